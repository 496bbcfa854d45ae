"""Lists that go on: the same few lines for jobs, events and passes."""

from typing import Any

from runledger.tables.pages import Key, Span

from runledger_api.cursors import Cursors, Position
from runledger_api.visits import Visit


class Listing:
    """Where a page begins, and where the next one will."""

    def __init__(self, cursors: Cursors, visit: Visit, cursor: str | None, span: Span) -> None:
        position = cursors.read(cursor, bound_to=visit.question) if cursor else None
        self._cursors, self._visit = cursors, visit
        self.start: Key | None = position.key if position else None
        self.span = Span(since=position.since, until=position.until) if position else span

    def answer(self, items: list[Any], next_key: Key | None) -> Any:
        position = Position(key=next_key, since=self.span.since, until=self.span.until) if next_key else None
        cursor = self._cursors.write(position, bound_to=self._visit.question) if position else None
        return {"items": items, "next_cursor": cursor}
