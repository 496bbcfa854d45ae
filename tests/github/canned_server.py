"""Answers that the simulated GitHub never gives: what proxies, gateways and broken connections make of GitHub's."""

import socketserver
from threading import Thread
from typing import Self


class CannedServer(socketserver.TCPServer):
    """Gives each connection the next of its answers, as it stands; an empty one hangs up without a word."""

    def __init__(self, *answers: bytes) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers = list(answers)
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
        self.wfile.write(self.server.answers.pop(0))


def http(status: str, body: bytes, *headers: str) -> bytes:
    lines = (f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *headers)
    return "\r\n".join((*lines, "", "")).encode() + body
