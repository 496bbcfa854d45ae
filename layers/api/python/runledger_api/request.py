"""The current request: its caller, time, path and query."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from runledger.model.dataclass import dataclass

from runledger_api.authentication import Caller

PAGING_PARAMETERS = ("limit", "cursor")


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    caller: Caller
    is_write: bool
    now: str
    path: str
    query: Mapping[str, str]
    has_time: Callable[[], bool]
    id: str = ""
    source_ip: str | None = None
    host: str | None = None

    @property
    def cursor_scope(self) -> Any:
        """What a cursor is bound to: the path, the filters and the caller's installations, but not the page size."""
        filters = {name: value for name, value in self.query.items() if name not in PAGING_PARAMETERS}
        scope = self.caller.installations
        return [self.path, filters, None if scope is None else sorted(scope)]


class HasContext(Protocol):
    context: dict[str, Any]


def current_request(router: HasContext) -> Request:
    request = router.context["request"]
    assert isinstance(request, Request)
    return request
