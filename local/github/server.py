"""The HTTP server of the simulated GitHub, on the loopback interface."""

import contextlib
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Self

from local.github.clock import Clock, system_clock
from local.github.courier import Courier
from local.github.credentials import Credentials
from local.github.dispatch import dispatch
from local.github.messages import Answer, Request
from local.github.state import State

LOOPBACK = "127.0.0.1"


class SimulatedGitHub:
    """Serves within a `with` block; tests replace `pause`, which delays slow responses."""

    def __init__(
        self,
        port: int = 0,
        *,
        clock: Clock = system_clock,
        pause: Callable[[float], object] | None = None,
        key_file: Path | None = None,
    ) -> None:
        self._stopping = Event()
        self._pause = pause or self._stopping.wait
        self.state = State(clock, Credentials(key_file))
        self.courier = Courier(self.state)
        self._server = _Server(port, self._answer)
        self._thread = Thread(target=self._server.serve_forever, args=(0.05,), name="simulated-github")

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self._server.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
        self.courier.close()

    def _answer(self, request: Request) -> Answer:
        return dispatch(self.state, self.courier, request, self._pause)


class _Server(ThreadingHTTPServer):
    request_queue_size = 128

    def __init__(self, port: int, answer: Callable[[Request], Answer]) -> None:
        self.answer = answer
        super().__init__((LOOPBACK, port), _Handler)


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    server_version = "SimulatedGitHub"
    wbufsize = -1  # buffer each response into one packet, to avoid delayed acknowledgements

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        answer = self.server.answer(Request(self.command, self.path, headers, body))
        # The client timed out; the simulation provokes that, so it isn't an error.
        with contextlib.suppress(ConnectionError):
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            if answer.body:
                self.send_header("Content-Type", "application/json; charset=utf-8")
            self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            self.wfile.write(answer.body)
            self.wfile.flush()

    do_GET = do_POST = do_PUT = do_DELETE = _serve  # noqa: N815

    def log_message(self, *_: object) -> None:
        """Logs nothing: calls are counted, and headers contain credentials."""
