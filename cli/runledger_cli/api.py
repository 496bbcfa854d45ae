"""Client of the HTTP API: returns JSON objects, and raises a CommandError for everything else."""

from __future__ import annotations

import http.client
import json
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener, getproxies

from runledger_cli import __version__
from runledger_cli.errors import ApiError, CommandError, Unreachable, UsageError
from runledger_cli.rendering.style import COLOUR_CODES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runledger_cli.connection import Connection

Json = dict[str, Any]

# Slightly longer than API Gateway's 30 s, so its error message arrives.
TIMEOUT_SECONDS = 35
LARGEST_PAGE = 200
REDIRECTS = (301, 302, 303, 307, 308)
_NO_COLOUR_CODES = dict.fromkeys(COLOUR_CODES)


class Api:
    def __init__(self, connection: Connection) -> None:
        self._url = connection.api_url
        self._token = connection.token
        self.has_responded = False
        # http is only allowed on this machine, and a proxy would send the token elsewhere unencrypted.
        proxies = {scheme: proxy for scheme, proxy in getproxies().items() if scheme != "http"}
        self._opener = build_opener(ProxyHandler(proxies), _NoRedirects)

    def get(self, *path: object, **query: object) -> Json:
        return self._call("GET", path, query)

    def post(self, *path: object, body: Json | None = None) -> Json:
        return self._call("POST", path, {}, json.dumps(body or {}).encode())

    def patch(self, *path: object, body: Json) -> Json:
        return self._call("PATCH", path, {}, json.dumps(body).encode())

    def delete(self, *path: object) -> Json:
        return self._call("DELETE", path, {})

    def get_all(self, *path: object, **query: object) -> Json:
        """All pages of a list as one response."""
        items = [item for page in self._pages(path, query) for item in page["items"]]
        return {"items": items, "next_cursor": None}

    def _pages(self, path: tuple[object, ...], query: Json) -> Iterator[Json]:
        page = self.get(*path, **query)
        yield page
        while page.get("next_cursor"):
            page = self.get(*path, **query | {"cursor": page["next_cursor"]})
            yield page

    def _call(self, method: str, path: tuple[object, ...], query: Json, body: bytes | None = None) -> Json:
        request = Request(self._request_url(path, query), method=method, data=body)  # noqa: S310 - http or https, checked
        request.add_header("Accept", "application/json")
        request.add_header("User-Agent", f"runledger/{__version__}")
        if body is not None:
            request.add_header("Content-Type", "application/json")
        request.add_unredirected_header("Authorization", f"Bearer {self._token}")
        try:
            with self._opener.open(request, timeout=TIMEOUT_SECONDS) as response:
                self.has_responded = True
                return self._read(response.read())
        except HTTPError as error:
            self.has_responded = True
            with error:
                raise self._error(error) from error
        except (OSError, http.client.HTTPException, UnicodeError) as error:  # the last: the host isn't a valid name
            raise Unreachable(f"cannot reach {self._url}: {_reason(error)}") from error

    def _request_url(self, path: tuple[object, ...], query: Json) -> str:
        given = {name: value for name, value in query.items() if value is not None}
        try:
            segments = "/".join(quote(str(each), safe="") for each in path)
            parameters = f"?{urlencode(given)}" if given else ""
        except UnicodeEncodeError as error:
            raise UsageError("an option or argument isn't valid UTF-8") from error
        prefix = "" if path[0] == "admin" else "v1/"
        return f"{self._url}/{prefix}{segments}{parameters}"

    def _read(self, body: bytes) -> Json:
        content = _json(body)
        if content is None:
            raise self._is_another_server()
        return content

    def _error(self, error: HTTPError) -> CommandError:
        """A proxy may send a page of its own with any other status, but the API's 404 is always JSON."""
        problem = _json(error.read())
        if problem is None and error.code == HTTPStatus.NOT_FOUND:
            return self._is_another_server()
        return _api_error(error, problem or {})

    def _is_another_server(self) -> Unreachable:
        return Unreachable(f"{self._url} isn't a Runledger API: check the URL")


class _NoRedirects(HTTPRedirectHandler):
    """The API never redirects. Following a redirect would send the request to another host."""

    def redirect_request(self, *_: object, **__: object) -> None:
        """Returning None makes urllib raise an HTTPError."""


def _json(body: bytes) -> Json | None:
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return _without_colour_codes(content) if isinstance(content, dict) else None


def _without_colour_codes(value: Any) -> Any:
    """Server text must not contain the placeholders that the output turns into colours."""
    if isinstance(value, str):
        return value.translate(_NO_COLOUR_CODES)
    if isinstance(value, list):
        return [_without_colour_codes(each) for each in value]
    if isinstance(value, dict):
        return {_without_colour_codes(key): _without_colour_codes(each) for key, each in value.items()}
    return value


def _api_error(error: HTTPError, problem: Json) -> ApiError:
    """Formats problem details as one line. Responses from API Gateway itself have only a `message`, or no body."""
    if error.code in REDIRECTS:
        where = error.headers.get("Location", "another URL")
        return ApiError(error.code, f"the API redirects to {where}, which is not followed: check --api-url")
    detail = str(problem.get("detail") or problem.get("message") or "")
    missing = [each for each in problem.get("errors") or () if str(each["problem"]) not in detail]
    details = [detail, *(f"{each['parameter']}: {each['problem']}" for each in missing)]
    title = str(problem.get("title") or f"{error.code} {error.reason}")
    return ApiError(error.code, ": ".join(each for each in (title, "; ".join(filter(None, details))) if each))


def _reason(error: Exception) -> str:
    cause = error.reason if isinstance(error, URLError) else error
    if isinstance(cause, TimeoutError):
        return f"no response within {TIMEOUT_SECONDS} s"
    return getattr(cause, "strerror", None) or str(cause) or type(cause).__name__
