"""A loopback proxy in front of DynamoDB that fails in bursts, before or after a call has taken effect."""

import http.client
import json
import random
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from local.processes import LOOPBACK

ERROR_TYPE = "com.amazonaws.dynamodb.v20120810#"
TIMEOUT_SECONDS = 60
# So many calls pass, then so many fail: one burst outlasts the SDK's second attempt.
CALM, BURST = (20, 60), (5, 40)


class Fault(StrEnum):
    THROTTLED = "ThrottlingException"
    SERVER_ERROR = "InternalServerError"
    REFUSED = "connection closed before the call"
    LOST_RESPONSE = "connection closed after the call"


STATUSES = {Fault.THROTTLED: 400, Fault.SERVER_ERROR: 500}


@dataclass
class Faults:
    """Decides for each call in turn. `calls` counts those that passed, under None, and each kind of fault."""

    seed: int
    failing: bool = True
    calls: Counter[Fault | None] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._plan = self._bursts(random.Random(f"faults {self.seed}"))  # noqa: S311

    def next(self) -> Fault | None:
        with self._lock:
            fault = next(self._plan) if self.failing else None
            self.calls[fault] += 1
            return fault

    def _bursts(self, choice: random.Random) -> Iterator[Fault | None]:
        while True:
            yield from [None] * choice.randint(*CALM)
            yield from choice.choices(list(Fault), k=choice.randint(*BURST))


@contextmanager
def running(dynamodb_url: str, faults: Faults) -> Iterator[str]:
    """Yield the URL of the proxy."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            fault = faults.next()
            if fault in STATUSES:
                self._respond(
                    STATUSES[fault], json.dumps({"__type": f"{ERROR_TYPE}{fault}", "message": fault}).encode()
                )
                return
            if fault is not Fault.REFUSED:
                status, content = forward(body, dict(self.headers.items()))
            if fault is None:
                self._respond(status, content)
            else:
                self.close_connection = True

        def _respond(self, status: int, body: bytes) -> None:
            with suppress(ConnectionError):  # the function didn't wait
                self.send_response(status)
                self.send_header("Content-Type", "application/x-amz-json-1.0")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    def forward(body: bytes, headers: dict[str, str]) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection(urlsplit(dynamodb_url).netloc, timeout=TIMEOUT_SECONDS)
        try:
            connection.request("POST", "/", body=body, headers=headers)
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()

    server = ThreadingHTTPServer((LOOPBACK, 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://{LOOPBACK}:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
