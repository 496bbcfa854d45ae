"""Addresses of receivers, checked when a subscription is saved and again when a message is sent. Pure."""

import re
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from runledger.model.errors import Malformed
from runledger.notifications.channels import addresses

LONGEST_URL = 2000
HTTPS, HTTP = "https", "http"
PORTS = {HTTPS: 443, HTTP: 80}
# Visible ASCII characters: a space or a line break could end the request line.
VISIBLE = re.compile(r"[!-~]+")
NAME = re.compile(r"(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*")
# The system's resolver reads these as IPv4 addresses in other notations, for example 0x7f.1 or 2130706433.
NUMERIC = re.compile(r"(.*\.)?(\d+|0x[0-9a-f]*)")
LOCALHOST = "localhost"


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The parts of a receiver's address that a request needs. `host` is lower-case, and has no brackets."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def is_encrypted(self) -> bool:
        return self.scheme == HTTPS

    @property
    def authority(self) -> str:
        """As in the header Host."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.authority}{self.path}"


def target(text: object, *, field: str, allow_loopback: bool = False) -> Target:
    """Malformed if messages can't be sent there: `field` names the URL in the error, which never contains the URL."""
    if not isinstance(text, str) or len(text) > LONGEST_URL or not VISIBLE.fullmatch(text):
        raise Malformed(field, f"must be a URL of at most {LONGEST_URL} ASCII characters")
    parts, port = _split(text, field)
    if parts.scheme != HTTPS and not (allow_loopback and parts.scheme == HTTP):
        raise Malformed(field, "must begin with https://")
    if parts.username is not None or parts.password is not None:
        raise Malformed(field, "must not contain a user name or password")
    if parts.fragment or "#" in text:
        raise Malformed(field, "must not contain a fragment (#)")
    host = _host(parts.hostname or "", field)
    _check_host(host, field, allow_loopback=allow_loopback, needs_loopback=parts.scheme == HTTP)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Target(scheme=parts.scheme, host=host, port=port or PORTS[parts.scheme], path=path)


def _split(text: str, field: str) -> tuple[SplitResult, int | None]:
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise Malformed(field, "is not a valid URL") from None
    if port == 0:
        raise Malformed(field, "is not a valid URL")
    return parts, port


def _host(text: str, field: str) -> str:
    """A dot at the end means the same name, and would hide it from comparisons."""
    host = text.lower().removesuffix(".")
    if addresses.parse(host) is None and (not NAME.fullmatch(host) or NUMERIC.fullmatch(host)):
        raise Malformed(field, "must have a host name, with international names in their ASCII form (xn--)")
    return host


def _check_host(host: str, field: str, *, allow_loopback: bool, needs_loopback: bool) -> None:
    """Names are resolved when a message is sent, and their addresses are checked then."""
    address = addresses.parse(host)
    is_local = host == LOCALHOST or host.endswith(f".{LOCALHOST}")
    is_loopback = is_local or (address is not None and addresses.is_loopback(address))
    if is_loopback and allow_loopback:
        return
    if needs_loopback:
        raise Malformed(field, "must begin with https://; http:// is allowed for loopback addresses only")
    if is_local or (address is not None and not addresses.is_public(address)):
        raise Malformed(field, "must have a public address: private, loopback and link-local ones are rejected")
