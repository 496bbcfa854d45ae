"""The launcher's side over loopback: it gives out the config, and takes runners back."""

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Self

SIGNATURE = "X-Amz-Signature=presigned-and-secret"


class Launcher(ThreadingHTTPServer):
    """Responds to each GET with the next of its failures, then with the config. A silent one never responds."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.config = b""
        self.failures: list[int] = []
        self.removal_status = 204
        self.silent = False
        self.called = Event()
        self.end_silence = Event()
        self.requests: list[str] = []
        self._thread = Thread(target=self.serve_forever, args=(0.05,))

    @property
    def config_url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/runner-config.json?{SIGNATURE}"

    @property
    def remove_url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/runners/7?{SIGNATURE}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.end_silence.set()
        self.shutdown()
        self._thread.join()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
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

    def log_message(self, *_: object) -> None:
        """Tests look at the requests instead."""

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
