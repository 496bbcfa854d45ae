"""Responses that the simulated GitHub never returns: those of proxies, gateways and broken connections."""

import socketserver

from tests.support.loopback import LoopbackServer


class CannedServer(LoopbackServer):
    """Sends the next of its responses to each connection, unchanged; an empty one closes the connection."""

    def __init__(self, *responses: bytes) -> None:
        super().__init__(_Handler)
        self.responses = list(responses)
        self.requests: list[bytes] = []


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
