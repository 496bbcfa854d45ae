"""Sends one HTTP request to a checked address, with a limit for the total time and size.

The receiver's name is resolved once, all its addresses are checked, and the connection is made to one of exactly these
addresses. So a name that resolves to another address a moment later (DNS rebinding) doesn't help an attacker. The
certificate is checked for the name. Redirects aren't followed, proxies aren't used, and compressed responses aren't
expanded. docs/adr/0067-own-http-client-for-channels.md explains why no library is used.
"""

import io
import socket
import ssl
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from functools import cached_property
from http.client import HTTPConnection, HTTPException, HTTPResponse
from threading import Thread
from typing import Any

from runledger.model.dataclass import dataclass
from runledger.notifications.channels import addresses
from runledger.notifications.channels.addresses import Address
from runledger.notifications.channels.urls import Target

# Limit for one request, including name resolution. The sender's timeout must be longer.
TOTAL_SECONDS = 15.0
# Limit for the rest of the response, once the status is known. A receiver can't keep the sender busy with it.
REST_SECONDS = 2.0
MOST_RESPONSE_BYTES = 64 * 1024
MOST_ADDRESSES = 4
CHUNK = 16 * 1024
HEADERS = {"User-Agent": "runledger", "Accept-Encoding": "identity", "Connection": "close"}

Resolve = Callable[[str, int], Sequence[str]]


class NoResponse(Exception):
    """Readers of messages see its text, so it contains no address and nothing that the receiver sent."""


class NotPublic(NoResponse):
    """The name resolves to an address that isn't public. A retry won't help."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """`headers` have lower-case names. They and `body` are empty if only the status arrived in time."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


def resolve(host: str, port: int) -> list[str]:
    """All addresses of the name, the preferred one first. Raises OSError if there are none."""
    return [str(each[4][0]) for each in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


class Timeout:
    def __init__(self, seconds: float, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._end = clock() + seconds

    def left(self) -> float:
        """Seconds. Raises TimeoutError if none are left."""
        left = self._end - self._clock()
        if left <= 0:
            raise TimeoutError
        return left

    def shorten(self, seconds: float) -> None:
        self._end = min(self._end, self._clock() + seconds)


class _Stream(io.RawIOBase):
    """A socket with a limit for the whole exchange: the socket's own timeout starts again with each byte."""

    def __init__(self, sock: socket.socket, timeout: Timeout) -> None:
        self._sock, self._timeout = sock, timeout
        self._bytes_left = MOST_RESPONSE_BYTES

    def sendall(self, data: bytes) -> None:
        for start in range(0, len(data), CHUNK):
            self._sock.settimeout(self._timeout.left())
            self._sock.sendall(data[start : start + CHUNK])

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(self)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self._bytes_left <= 0:
            raise OSError("the response is too large")
        self._sock.settimeout(self._timeout.left())
        number = self._sock.recv_into(buffer, min(len(buffer), self._bytes_left))
        self._bytes_left -= number
        return number


@dataclass(frozen=True, kw_only=True)
class Http:
    """Only tests replace `resolve`, `trusted` and the times."""

    allow_loopback: bool = False
    resolve: Resolve = resolve
    trusted: Callable[[], ssl.SSLContext] = ssl.create_default_context
    seconds: float = TOTAL_SECONDS
    rest_seconds: float = REST_SECONDS
    clock: Callable[[], float] = time.monotonic

    @cached_property
    def _context(self) -> ssl.SSLContext:
        """Cached, because loading all certificate authorities takes longer than a request."""
        return self.trusted()

    def post(self, target: Target, body: bytes, headers: Mapping[str, str]) -> Response:
        """Raises NoResponse if no status was received."""
        timeout = Timeout(self.seconds, self.clock)
        try:
            found = self._addresses(target, timeout)
            with self._connect(found, target, timeout) as sock:
                return self._exchange(_Stream(sock, timeout), target, body, headers, timeout)
        except TimeoutError:
            raise NoResponse(f"no response within {self.seconds:g} seconds") from None
        except ssl.SSLCertVerificationError as error:
            raise NoResponse(f"the certificate isn't valid: {error.verify_message}") from None
        except ssl.SSLError:
            raise NoResponse("no encrypted connection: TLS failed") from None
        except ConnectionRefusedError:
            raise NoResponse("the connection was refused") from None
        except (HTTPException, ValueError):
            raise NoResponse("the response isn't HTTP") from None
        except OSError:
            raise NoResponse("the connection failed, or ended without a response") from None

    def _addresses(self, target: Target, timeout: Timeout) -> list[Address]:
        """Raises NotPublic if even one address isn't allowed, because a public receiver has no such address."""
        literal = addresses.parse(target.host)
        named = [target.host] if literal is not None else self._resolved(target, timeout)
        found = [addresses.parse(each) for each in dict.fromkeys(named)]
        allowed = [each for each in found if each is not None and self._is_allowed(each)]
        if not found or len(allowed) < len(found):
            raise NotPublic("the name of the receiver resolves to an address that isn't public")
        return allowed[:MOST_ADDRESSES]

    def _is_allowed(self, address: Address) -> bool:
        return addresses.is_public(address) or (self.allow_loopback and addresses.is_loopback(address))

    def _resolved(self, target: Target, timeout: Timeout) -> Sequence[str]:
        """In a thread, because the system's resolver has no configurable timeout."""
        results: list[Sequence[str] | None] = []

        def look_up() -> None:
            try:
                results.append(self.resolve(target.host, target.port))
            except (OSError, UnicodeError):
                results.append(None)

        thread = Thread(target=look_up, daemon=True)
        thread.start()
        thread.join(timeout.left())
        if not results:
            raise TimeoutError
        if results[0] is None:
            raise NoResponse("the name of the receiver can't be resolved")
        return results[0]

    def _connect(self, found: Sequence[Address], target: Target, timeout: Timeout) -> socket.socket:
        """Connects to the first address that accepts. Each address but the last may use half of the remaining time."""
        *others, last = found
        for address in others:
            try:
                return self._connect_to(address, target, timeout.left() / 2, timeout)
            except ssl.SSLError:
                raise
            except OSError:
                continue
        return self._connect_to(last, target, timeout.left(), timeout)

    def _connect_to(self, address: Address, target: Target, seconds: float, timeout: Timeout) -> socket.socket:
        family = socket.AF_INET if address.version == 4 else socket.AF_INET6  # noqa: PLR2004
        sock = socket.socket(family, socket.SOCK_STREAM)
        try:
            sock.settimeout(seconds)
            sock.connect((str(address), target.port))
            if not target.is_encrypted:
                return sock
            sock.settimeout(timeout.left())
            return self._context.wrap_socket(sock, server_hostname=target.host)
        except BaseException:
            sock.close()
            raise

    def _exchange(
        self, stream: Any, target: Target, body: bytes, headers: Mapping[str, str], timeout: Timeout
    ) -> Response:
        connection = HTTPConnection(target.host, target.port)
        connection.sock = stream
        with suppress(BrokenPipeError, ConnectionResetError):  # the receiver may respond before it has read everything
            connection.request("POST", target.path, body, {"Host": target.authority, **HEADERS, **headers})
        response = HTTPResponse(stream, method="POST")
        try:
            response.begin()
            timeout.shorten(self.rest_seconds)
            named = {name.lower(): value for name, value in response.headers.items()}
            return Response(status=response.status, headers=named, body=self._rest(response))
        except (OSError, HTTPException, ValueError):
            # The status is final: without this, a message that the receiver accepted would be sent again.
            if isinstance(response.status, int):
                return Response(status=response.status)
            raise
        finally:
            response.close()

    def _rest(self, response: HTTPResponse) -> bytes:
        try:
            return response.read(MOST_RESPONSE_BYTES)
        except (OSError, HTTPException, ValueError):
            return b""
