"""Which API to call and with which token: from options, the environment, or a local deployment in this folder or above.

The token travels with every request, so an address must be https unless it is on this machine.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from runledger_cli.errors import Misuse

if TYPE_CHECKING:
    from collections.abc import Mapping

URL_VARIABLE = "RUNLEDGER_API_URL"
TOKEN_VARIABLE = "RUNLEDGER_TOKEN"  # noqa: S105 - the variable's name
LOCAL_OUTPUTS = Path(".local", "outputs.json")
ROOT_USER = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """`discovered` is the file in a parent folder that named the address, which the user should be told."""

    api_url: str
    token: str = field(repr=False)
    discovered: Path | None = None


def find(*, api_url: str | None, token: str | None, environment: Mapping[str, str], folder: Path) -> Connection:
    """A token of the environment goes only to an address that was given: a folder's file must not lure it away."""
    if given := api_url or environment.get(URL_VARIABLE):
        return _checked(given, token or environment.get(TOKEN_VARIABLE))
    if file := _local_outputs(folder):
        return _discovered(file, token, folder)
    raise Misuse(f"no API address: pass --api-url or set {URL_VARIABLE}; `make up` starts a local deployment")


def _local_outputs(folder: Path) -> Path | None:
    candidates = (each / LOCAL_OUTPUTS for each in (folder, *folder.parents))
    return next((each for each in candidates if each.is_file()), None)


def _discovered(file: Path, token: str | None, folder: Path) -> Connection:
    """A file that was merely found is trusted less than an option: it names this machine, and it is the user's own."""
    owner = file.stat().st_uid
    if owner != ROOT_USER and owner != os.getuid():  # Windows has no getuid, and 0 for every owner
        raise Misuse(f"{file} belongs to another user: pass --api-url and --token to choose the API yourself")
    api_url, admin_token = _read(file)
    found = _checked(api_url, token or admin_token)
    if not _is_loopback(_origin(api_url)[1]):
        raise Misuse(f"{file} names {api_url}, which isn't on this machine: pass --api-url and --token to use it")
    parent = None if file == folder / LOCAL_OUTPUTS else file
    return Connection(api_url=found.api_url, token=found.token, discovered=parent)


def _read(file: Path) -> tuple[str, str]:
    try:
        outputs = json.loads(file.read_text())
        return str(outputs["api_url"]), str(outputs["admin_token"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Misuse(f"{file} is not what `make up` writes: run it again, or give --api-url and --token") from error


def _checked(api_url: str, token: str | None) -> Connection:
    scheme, host = _origin(api_url)
    if scheme not in ("http", "https") or not host:
        raise Misuse(f"{api_url!r} isn't the address of an API: it must look like https://HOST")
    if scheme == "http" and not _is_loopback(host):
        raise Misuse(f"{api_url} would send the token unencrypted: use https (http is only for this machine)")
    if not token:
        raise Misuse(f"no token for {api_url}: set {TOKEN_VARIABLE} or give --token")
    # Checked here, because the HTTP library would show the token in its complaint.
    if not (token.isascii() and token.isprintable()) or " " in token:
        raise Misuse("the token has characters that no token has: was it pasted whole, and alone?")
    return Connection(api_url=api_url.rstrip("/"), token=token)


def _origin(api_url: str) -> tuple[str, str]:
    """Scheme and host; no host if a user name or a backslash could make another parser see a different one."""
    try:
        parts = urlsplit(api_url)
        ambiguous = "@" in parts.netloc or "\\" in api_url
        return parts.scheme, "" if ambiguous else parts.hostname or ""
    except ValueError:
        return "", ""


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
