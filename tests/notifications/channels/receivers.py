"""Receivers of messages on loopback, with everything that a receiver on the internet may do."""

import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from threading import Event, Thread

Behaviour = Callable[["Connection"], None]
LONGEST_TEST_SECONDS = 10


@dataclass(frozen=True, kw_only=True)
class Request:
    line: str
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True, kw_only=True)
class Connection:
    sock: socket.socket
    stopped: Event

    def send(self, data: bytes) -> None:
        self.sock.sendall(data)

    def drip(self, data: bytes, *, every: float = 0.02) -> None:
        """Byte by byte: no pause is long enough for a timeout that starts again with each byte."""
        for number in range(len(data)):
            self.send(data[number : number + 1])
            if self.stopped.wait(every):
                return


@dataclass(kw_only=True)
class Receiver:
    port: int
    host: str = "127.0.0.1"
    scheme: str = "http"
    requests: list[Request] = field(default_factory=list)
    connections: int = 0

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.host}:{self.port}/hook"


def responds(status: int, *, body: bytes = b"", **headers: str) -> Behaviour:
    lines = [f"HTTP/1.1 {status} Whatever", f"Content-Length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return sends("\r\n".join(lines).encode() + b"\r\n\r\n" + body)


def sends(data: bytes) -> Behaviour:
    return lambda connection: connection.send(data)


def drips(data: bytes) -> Behaviour:
    return then_drips(b"", data)


def then_drips(start: bytes, data: bytes) -> Behaviour:
    def behave(connection: Connection) -> None:
        connection.send(start)
        connection.drip(data)

    return behave


def repeats(start: bytes, part: bytes) -> Behaviour:
    """Sends the same bytes endlessly."""

    def behave(connection: Connection) -> None:
        connection.send(start)
        while not connection.stopped.is_set():
            connection.send(part)

    return behave


def stays_silent(connection: Connection) -> None:
    connection.stopped.wait(LONGEST_TEST_SECONDS)


def hangs_up(_connection: Connection) -> None:
    pass


@contextmanager
def receiving(
    *behaviours: Behaviour, tls: ssl.SSLContext | None = None, address: str = "127.0.0.1", port: int = 0
) -> Iterator[Receiver]:
    """Each connection meets the next behaviour, and those after the last one the last again."""
    listener = socket.create_server((address, port))
    listener.settimeout(0.01)
    stopped = Event()
    receiver = Receiver(port=listener.getsockname()[1], host=address, scheme="https" if tls else "http")

    def serve() -> None:
        while not stopped.is_set():
            with suppress(OSError):
                accepted, _ = listener.accept()
                behave = behaviours[min(receiver.connections, len(behaviours) - 1)]
                receiver.connections += 1
                with suppress(OSError), accepted:
                    _serve_one(accepted, behave)

    def _serve_one(accepted: socket.socket, behave: Behaviour) -> None:
        accepted.settimeout(LONGEST_TEST_SECONDS)
        sock = tls.wrap_socket(accepted, server_side=True) if tls else accepted
        with sock:
            receiver.requests.append(_read(sock))
            behave(Connection(sock=sock, stopped=stopped))

    thread = Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        stopped.set()
        thread.join(LONGEST_TEST_SECONDS)
        listener.close()


@contextmanager
def refusing() -> Iterator[int]:
    """A port of 127.0.0.1 that is reserved and accepts no connection: a free one could be taken by another process."""
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        yield reserved.getsockname()[1]


def _read(sock: socket.socket) -> Request:
    with sock.makefile("rb") as file:
        line = file.readline().decode("latin-1").strip()
        headers: dict[str, str] = {}
        while text := file.readline().decode("latin-1").strip():
            name, _, value = text.partition(":")
            headers[name.lower()] = value.strip()
        return Request(line=line, headers=headers, body=file.read(int(headers.get("content-length", 0))))
