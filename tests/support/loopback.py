"""A server for tests, on a free port of this machine."""

from http.server import ThreadingHTTPServer
from socketserver import BaseRequestHandler
from threading import Thread
from typing import Self

POLL_SECONDS = 0.02


class LoopbackServer(ThreadingHTTPServer):
    """Serves in threads until the end of its `with` block. A subclass has the state that its handler uses."""

    def __init__(self, handler: type[BaseRequestHandler]) -> None:
        super().__init__(("127.0.0.1", 0), handler)
        self._thread = Thread(target=self.serve_forever, args=(POLL_SECONDS,))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self._thread.join()
        self.server_close()


class Quiet:
    """For a request handler."""

    def log_message(self, *_: object) -> None:
        """Logs nothing: tests look at the requests instead."""
