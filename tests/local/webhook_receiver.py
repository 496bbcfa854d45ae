"""A receiver of webhooks that stores the exact bytes and sends the response that a test sets."""

from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from threading import Event

from tests.support.loopback import LoopbackServer, Quiet


@dataclass(frozen=True)
class Received:
    headers: dict[str, str]
    body: bytes


class WebhookReceiver(LoopbackServer):
    """Returns the statuses in `responses` one by one, then 202. While `silent`, it doesn't respond."""

    def __init__(self) -> None:
        super().__init__(_Handler)
        self.received: list[Received] = []
        self.responses: list[int] = []
        self.silent = False
        self.closing = Event()

    @property
    def url(self) -> str:
        return f"{super().url}/webhook"

    def __exit__(self, *error: object) -> None:
        self.closing.set()
        super().__exit__(*error)


class _Handler(Quiet, BaseHTTPRequestHandler):
    server: WebhookReceiver

    def do_POST(self) -> None:
        receiver = self.server
        body = self.rfile.read(int(self.headers["Content-Length"]))
        receiver.received.append(Received({name.lower(): value for name, value in self.headers.items()}, body))
        if receiver.silent:
            receiver.closing.wait()
            return
        self.send_response(receiver.responses.pop(0) if receiver.responses else 202)
        self.end_headers()
