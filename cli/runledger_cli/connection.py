"""Finds the API's URL and token: options, environment variables, or a local deployment in this folder or a parent.

Every request contains the token, so the URL must be https unless it is on this machine.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from runledger_cli.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

URL_VARIABLE = "RUNLEDGER_API_URL"
TOKEN_VARIABLE = "RUNLEDGER_TOKEN"  # noqa: S105 - the variable's name
LOCAL_OUTPUTS = Path(".local", "outputs.json")
ROOT_USER = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """`discovered` is the file in a parent folder that the URL came from; the command prints it."""

    api_url: str
    token: str = field(repr=False)
    discovered: Path | None = None


def find(*, api_url: str | None, token: str | None, environment: Mapping[str, str], folder: Path) -> Connection:
    """The token from the environment is only sent to an explicit URL, so a file in a folder can't obtain it."""
    if given := api_url or environment.get(URL_VARIABLE):
        return _checked(given, token or environment.get(TOKEN_VARIABLE))
    if file := _local_outputs(folder):
        return _discovered(file, token, folder)
    raise UsageError(f"no API URL: pass --api-url or set {URL_VARIABLE}, or start a local deployment with `make up`")


def _local_outputs(folder: Path) -> Path | None:
    candidates = (each / LOCAL_OUTPUTS for each in (folder, *folder.parents))
    return next((each for each in candidates if each.is_file()), None)


def _discovered(file: Path, token: str | None, folder: Path) -> Connection:
    """A discovered file is only trusted if it belongs to the user and its URL is on this machine."""
    owner = file.stat().st_uid
    if owner != ROOT_USER and owner != os.getuid():  # Windows has no getuid, and 0 for every owner
        raise UsageError(f"{file} belongs to another user: pass --api-url and --token to choose the API yourself")
    api_url, admin_token = _read(file)
    found = _checked(api_url, token or admin_token)
    if not _is_loopback(_origin(api_url)[1]):
        raise UsageError(f"{file} names {api_url}, which isn't on this machine: pass --api-url and --token to use it")
    parent = None if file == folder / LOCAL_OUTPUTS else file
    return Connection(api_url=found.api_url, token=found.token, discovered=parent)


def _read(file: Path) -> tuple[str, str]:
    try:
        outputs = json.loads(file.read_text())
        return str(outputs["api_url"]), str(outputs["admin_token"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{file} isn't valid: run `make up` again, or pass --api-url and --token") from error


def _checked(api_url: str, token: str | None) -> Connection:
    scheme, host = _origin(api_url)
    if scheme not in ("http", "https") or not host:
        raise UsageError(f"{api_url!r} isn't an API URL: it must have the form https://HOST")
    if scheme == "http" and not _is_loopback(host):
        raise UsageError(f"{api_url} would send the token unencrypted: use https (http is only for this machine)")
    if not token:
        raise UsageError(f"no token for {api_url}: set {TOKEN_VARIABLE} or pass --token")
    # Checked here, because the HTTP library's error message would contain the token.
    if not (token.isascii() and token.isprintable()) or " " in token:
        raise UsageError("the token contains invalid characters: copy it again")
    return Connection(api_url=api_url.rstrip("/"), token=token)


def _origin(api_url: str) -> tuple[str, str]:
    """Scheme and host. The host is empty if a user name or backslash makes the URL ambiguous."""
    try:
        parts = urlsplit(api_url)
        ambiguous = "@" in parts.netloc or "\\" in api_url
        return parts.scheme, "" if ambiguous else parts.hostname or ""
    except ValueError:
        return "", ""


def _is_loopback(host: str) -> bool:
    """A copy of `runledger.model.addresses.is_loopback`: this package is installed without the layers."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
