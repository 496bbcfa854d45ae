"""Responses that the simulated GitHub never returns: those of proxies, gateways and broken connections."""

import socketserver
from threading import Thread
from typing import Self


class CannedServer(socketserver.TCPServer):
    """Sends the next of its responses to each connection, unchanged; an empty one closes the connection."""

    def __init__(self, *responses: bytes) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.responses = list(responses)
        self.requests: list[bytes] = []
        self._thread = Thread(target=self.serve_forever, args=(0.05,))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self._thread.join()
        self.server_close()


class _Handler(socketserver.StreamRequestHandler):
    server: CannedServer

    def handle(self) -> None:
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += self.rfile.readline()
        self.server.requests.append(head)
        self.wfile.write(self.server.responses.pop(0))


def http(status: str, body: bytes, *headers: str) -> bytes:
    lines = (f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *headers)
    return "\r\n".join((*lines, "", "")).encode() + body
