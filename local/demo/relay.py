"""A webhook endpoint that dates its deliveries: the demo plays days within a minute.

API Gateway stamps each request with the time at which it arrives. The relay invokes the same function with the same
event, but with the time at which the delivery would have arrived.
"""

from __future__ import annotations

import json
import threading
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

from local.aws import clients as aws
from local.processes import LOOPBACK

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from mypy_boto3_lambda import LambdaClient

    from local.aws.outputs import Outputs

_BAD_GATEWAY = 502


class Relay:
    """Thread-safe: deliveries of different runs are sent at the same time."""

    def __init__(self, outputs: Outputs, client: LambdaClient) -> None:
        self._function = outputs.functions["webhook_intake"]
        self._client = client
        self._receipts: dict[str, datetime] = {}
        self._server = ThreadingHTTPServer((LOOPBACK, 0), self._handler())

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self._server.server_port}/webhooks/github"

    def expect(self, delivery_id: str, received_at: datetime) -> None:
        """Date the next delivery with this id."""
        self._receipts[delivery_id] = received_at

    def serve(self) -> None:
        self._server.serve_forever()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        relay = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                status, response = relay._invoke({name.lower(): value for name, value in self.headers.items()}, body)
                self.send_response(status)
                self.send_header("Content-Length", str(len(response)))
                self.end_headers()
                self.wfile.write(response)

            def log_message(self, *_: object) -> None:
                """GitHub's delivery log has every delivery."""

        return Handler

    def _invoke(self, headers: dict[str, str], body: str) -> tuple[int, bytes]:
        received_at = self._receipts[headers["x-github-delivery"]]
        event = {
            "version": "2.0",
            "headers": headers,
            "body": body,
            "isBase64Encoded": False,
            "requestContext": {"timeEpoch": round(received_at.timestamp() * 1000)},
        }
        response = self._client.invoke(FunctionName=self._function, Payload=json.dumps(event).encode())
        result = response["Payload"].read()
        if "FunctionError" in response:
            return _BAD_GATEWAY, result
        returned = json.loads(result)
        return int(returned["statusCode"]), str(returned["body"]).encode()


@contextmanager
def running(outputs: Outputs) -> Iterator[Relay]:
    with closing(aws.client(outputs, "lambda")) as client:
        relay = Relay(outputs, client)
        thread = threading.Thread(target=relay.serve, name="relay", daemon=True)
        thread.start()
        try:
            yield relay
        finally:
            relay.stop()
            thread.join()
