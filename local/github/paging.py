"""GitHub's page-numbered lists and their Link header."""

from collections.abc import Sequence
from typing import TypeVar
from urllib.parse import urlencode

from local.github.messages import Refusal, Request

T = TypeVar("T")

DEFAULT_PAGE = 30
LARGEST_PAGE = 100


def page_size(request: Request) -> int:
    return min(max(_number(request, "per_page", DEFAULT_PAGE), 1), LARGEST_PAGE)


def page_of(request: Request, items: Sequence[T]) -> tuple[list[T], dict[str, str]]:
    """One page, and its Link header."""
    size, page = page_size(request), max(_number(request, "page", 1), 1)
    last = max(-(-len(items) // size), 1)
    targets: dict[str, int] = {}
    if page > 1:
        targets |= {"prev": min(page - 1, last), "first": 1}
    if page < last:
        targets |= {"next": page + 1, "last": last}
    links = ", ".join(link(request, relation, page=str(number)) for relation, number in targets.items())
    return list(items[(page - 1) * size : page * size]), {"Link": links} if links else {}


def link(request: Request, relation: str, **changes: str) -> str:
    """One part of a Link header: the caller's URL with some parameters changed."""
    return f'<{request.site.api}{request.path}?{urlencode(request.query | changes)}>; rel="{relation}"'


def _number(request: Request, name: str, default: int) -> int:
    try:
        return int(request.query.get(name, default))
    except ValueError:
        raise Refusal(422, f"{name} must be a number") from None
