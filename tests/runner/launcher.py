"""The launcher's side over loopback: it gives out the config, and takes runners back."""

from http.server import BaseHTTPRequestHandler
from threading import Event

from tests.support.loopback import LoopbackServer, Quiet

SIGNATURE = "X-Amz-Signature=presigned-and-secret"


class Launcher(LoopbackServer):
    """Responds to each GET with the next of its failures, then with the config. A silent one never responds."""

    def __init__(self) -> None:
        super().__init__(_Handler)
        self.config = b""
        self.failures: list[int] = []
        self.removal_status = 204
        self.silent = False
        self.called = Event()
        self.end_silence = Event()
        self.requests: list[str] = []

    @property
    def config_url(self) -> str:
        return f"{self.url}/runner-config.json?{SIGNATURE}"

    @property
    def remove_url(self) -> str:
        return f"{self.url}/runners/7?{SIGNATURE}"

    def __exit__(self, *error: object) -> None:
        self.end_silence.set()
        super().__exit__(*error)


class _Handler(Quiet, BaseHTTPRequestHandler):
    server: Launcher

    def do_GET(self) -> None:
        self._note()
        if self.server.failures:
            self._respond(self.server.failures.pop(0))
        else:
            self._respond(200, self.server.config)

    def do_DELETE(self) -> None:
        self._note()
        self._respond(self.server.removal_status)

    def _note(self) -> None:
        self.server.requests.append(f"{self.command} {self.path.partition('?')[0]}")
        self.server.called.set()
        if self.server.silent:
            self.server.end_silence.wait()

    def _respond(self, status: int, body: bytes = b"") -> None:
        try:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        except ConnectionError:
            self.close_connection = True  # the client has given up
