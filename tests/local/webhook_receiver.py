"""A receiver of webhooks that stores the exact bytes and sends the response that a test sets."""

from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Self


@dataclass(frozen=True)
class Received:
    headers: dict[str, str]
    body: bytes


class WebhookReceiver:
    """Returns the statuses in `responses` one by one, then 202. While `silent`, it doesn't respond."""

    def __init__(self) -> None:
        self.received: list[Received] = []
        self.responses: list[int] = []
        self.silent = False
        self.closing = Event()
        self._server = _Server(self)
        self._thread = Thread(target=self._server.serve_forever, args=(0.02,))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/webhook"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    def __init__(self, receiver: WebhookReceiver) -> None:
        self.receiver = receiver
        super().__init__(("127.0.0.1", 0), _Handler)


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        receiver = self.server.receiver
        body = self.rfile.read(int(self.headers["Content-Length"]))
        receiver.received.append(Received({name.lower(): value for name, value in self.headers.items()}, body))
        if receiver.silent:
            receiver.closing.wait()
            return
        self.send_response(receiver.responses.pop(0) if receiver.responses else 202)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass
