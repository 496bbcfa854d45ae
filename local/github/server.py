"""The HTTP server of the simulated GitHub, on the loopback interface."""

from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread
from typing import Self

from werkzeug import Request as HttpRequest
from werkzeug import Response as HttpResponse
from werkzeug.serving import WSGIRequestHandler, make_server

from local.github.courier import Courier
from local.github.credentials import Credentials
from local.github.dispatch import dispatch
from local.github.messages import Request, Response
from local.github.state import Clock, State, system_clock

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
        self._server = make_server(
            LOOPBACK, port, HttpRequest.application(self._serve), threaded=True, request_handler=_Handler
        )
        self._thread = Thread(target=self._server.serve_forever, args=(0.05,), name="simulated-github")

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self._server.port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._server.shutdown()
        self._thread.join()
        self.courier.close()

    def _serve(self, received: HttpRequest) -> HttpResponse:
        headers = {name.lower(): value for name, value in received.headers.items()}
        # The target as sent: Werkzeug's own path is decoded.
        request = Request(received.method, received.environ["REQUEST_URI"], headers, received.get_data())
        response = self._respond(request)
        return HttpResponse(
            response.body, response.status, response.headers, content_type="application/json; charset=utf-8"
        )

    def _respond(self, request: Request) -> Response:
        return dispatch(self.state, self.courier, request, self._pause)


class _Handler(WSGIRequestHandler):
    protocol_version = "HTTP/1.0"  # closes every connection, so none is left open when the server stops
    wbufsize = -1  # buffers each response into one packet, to avoid delayed acknowledgements

    def log_request(self, *_: object) -> None:
        """Logs nothing: calls are counted, and targets may contain credentials."""
