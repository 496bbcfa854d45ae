"""Where the API is and who asks: from options, the environment, or a local deployment in this folder or above."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from runledger_cli.errors import Misuse

if TYPE_CHECKING:
    from collections.abc import Mapping

URL_VARIABLE = "RUNLEDGER_API_URL"
TOKEN_VARIABLE = "RUNLEDGER_TOKEN"  # noqa: S105 - the variable's name
LOCAL_OUTPUTS = Path(".local", "outputs.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    api_url: str
    token: str = field(repr=False)


def find(*, api_url: str | None, token: str | None, environment: Mapping[str, str], folder: Path) -> Connection:
    """A token of the environment goes only to an address that was given: a folder's file must not lure it away."""
    if given := api_url or environment.get(URL_VARIABLE):
        return _checked(given, token or environment.get(TOKEN_VARIABLE))
    if file := _local_outputs(folder):
        outputs = _read(file)
        return _checked(outputs["api_url"], token or outputs["admin_token"])
    raise Misuse(f"no API to ask: give --api-url or set {URL_VARIABLE}; `make up` starts one on this machine")


def _local_outputs(folder: Path) -> Path | None:
    candidates = (each / LOCAL_OUTPUTS for each in (folder, *folder.parents))
    return next((each for each in candidates if each.is_file()), None)


def _read(file: Path) -> dict[str, Any]:
    try:
        outputs = json.loads(file.read_text())
        return {name: outputs[name] for name in ("api_url", "admin_token")}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Misuse(f"{file} is not what `make up` writes: run it again, or give --api-url and --token") from error


def _checked(api_url: str, token: str | None) -> Connection:
    parts = urlsplit(api_url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise Misuse(f"{api_url!r} is no address of an API: it begins with https:// and names a host")
    if not token:
        raise Misuse(f"no token for {api_url}: set {TOKEN_VARIABLE} or give --token")
    # Checked here, because the HTTP library would show the token in its complaint.
    if not (token.isascii() and token.isprintable()) or " " in token:
        raise Misuse("the token has characters that no token has: was it pasted whole, and alone?")
    return Connection(api_url=api_url.rstrip("/"), token=token)
