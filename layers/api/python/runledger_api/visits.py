"""One request: who asks or orders, when, and what."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from runledger_api.access import Caller

NOT_PART_OF_THE_QUESTION = ("limit", "cursor")


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    caller: Caller
    orders: bool
    now: str
    path: str
    query: Mapping[str, str]
    has_time: Callable[[], bool]

    @property
    def question(self) -> Any:
        """What a cursor is bound to: the path, the filters and the scope, however long the pages are."""
        filters = {name: value for name, value in self.query.items() if name not in NOT_PART_OF_THE_QUESTION}
        scope = self.caller.installations
        return [self.path, filters, None if scope is None else sorted(scope)]


class HasContext(Protocol):
    context: dict[str, Any]


def visit(router: HasContext) -> Visit:
    found = router.context["visit"]
    assert isinstance(found, Visit)
    return found
