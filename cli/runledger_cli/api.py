"""The HTTP API as the commands see it: answers are plain JSON, and everything else is one of our errors."""

from __future__ import annotations

import http.client
import json
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener, getproxies

from runledger_cli import __version__
from runledger_cli.errors import CommandError, Refusal, Unreachable
from runledger_cli.rendering.look import COLOUR_CODES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runledger_cli.connection import Connection

Answer = dict[str, Any]

# API Gateway gives up after 30 s: whoever waits a little longer hears its reason.
PATIENCE_SECONDS = 35
LARGEST_PAGE = 200
REDIRECTS = (301, 302, 303, 307, 308)
_NO_COLOUR_CODES = dict.fromkeys(COLOUR_CODES)


class Api:
    def __init__(self, connection: Connection) -> None:
        self._url = connection.api_url
        self._token = connection.token
        # http is only for this machine, where a proxy would carry the token off it unencrypted.
        proxies = {scheme: proxy for scheme, proxy in getproxies().items() if scheme != "http"}
        self._opener = build_opener(ProxyHandler(proxies), _NoRedirects)

    def get(self, *path: object, **query: object) -> Answer:
        return self._call("GET", path, query)

    def post(self, *path: object, body: Answer | None = None) -> Answer:
        return self._call("POST", path, {}, json.dumps(body or {}).encode())

    def everything(self, *path: object, **query: object) -> Answer:
        """All pages of a list as one answer."""
        items = [item for page in self._pages(path, query) for item in page["items"]]
        return {"items": items, "next_cursor": None}

    def _pages(self, path: tuple[object, ...], query: Answer) -> Iterator[Answer]:
        page = self.get(*path, **query)
        yield page
        while page.get("next_cursor"):
            page = self.get(*path, **query | {"cursor": page["next_cursor"]})
            yield page

    def _call(self, method: str, path: tuple[object, ...], query: Answer, body: bytes | None = None) -> Answer:
        request = Request(self._address(path, query), method=method, data=body)  # noqa: S310 - http or https, checked
        request.add_header("Accept", "application/json")
        request.add_header("User-Agent", f"runledger/{__version__}")
        if body is not None:
            request.add_header("Content-Type", "application/json")
        request.add_unredirected_header("Authorization", f"Bearer {self._token}")
        try:
            with self._opener.open(request, timeout=PATIENCE_SECONDS) as response:
                return self._read(response.read())
        except HTTPError as error:
            with error:
                raise _refusal(error) from error
        except (OSError, http.client.HTTPException) as error:
            raise Unreachable(f"cannot reach {self._url}: {_reason(error)}") from error

    def _address(self, path: tuple[object, ...], query: Answer) -> str:
        segments = "/".join(quote(str(each), safe="") for each in path)
        given = {name: value for name, value in query.items() if value is not None}
        questions = "" if path[0] == "admin" else "v1/"
        return f"{self._url}/{questions}{segments}" + (f"?{urlencode(given)}" if given else "")

    def _read(self, body: bytes) -> Answer:
        answer = _json(body)
        if answer is None:
            raise Unreachable(f"what answers at {self._url} is not Runledger's API: check the address")
        return answer


class _NoRedirects(HTTPRedirectHandler):
    """The API never redirects: following one would send the request, or show an answer, of another host."""

    def redirect_request(self, *_: object, **__: object) -> None:
        """None makes urllib raise the redirect as an HTTPError."""


def _json(body: bytes) -> Answer | None:
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return _without_colour_codes(answer) if isinstance(answer, dict) else None


def _without_colour_codes(value: Any) -> Any:
    """Server text must not contain the placeholders that the output turns into colours."""
    if isinstance(value, str):
        return value.translate(_NO_COLOUR_CODES)
    if isinstance(value, list):
        return [_without_colour_codes(each) for each in value]
    if isinstance(value, dict):
        return {_without_colour_codes(key): _without_colour_codes(each) for key, each in value.items()}
    return value


def _refusal(error: HTTPError) -> CommandError:
    """Problem details as one line; a gateway on the way has only a `message`, or nothing to say."""
    if error.code in REDIRECTS:
        where = error.headers.get("Location", "another address")
        return Refusal(error.code, f"the API redirects to {where}, which is not followed: check --api-url")
    said = _json(error.read()) or {}
    detail = str(said.get("detail") or said.get("message") or "")
    wrong = [each for each in said.get("errors") or () if str(each["problem"]) not in detail]
    details = [detail, *(f"{each['parameter']}: {each['problem']}" for each in wrong)]
    title = str(said.get("title") or f"{error.code} {error.reason}")
    return Refusal(error.code, ": ".join(each for each in (title, "; ".join(filter(None, details))) if each))


def _reason(error: Exception) -> str:
    cause = error.reason if isinstance(error, URLError) else error
    if isinstance(cause, TimeoutError):
        return f"no answer within {PATIENCE_SECONDS} s"
    return getattr(cause, "strerror", None) or str(cause) or type(cause).__name__
