"""Pages of a list."""

from typing import Any

from runledger.tables.pages import Key, Span

from runledger_api.cursors import Cursors, Position
from runledger_api.request import Request


class Paginator:
    """`start` is the key before the first item of this page; None for the first page."""

    def __init__(self, cursors: Cursors, request: Request, cursor: str | None, span: Span) -> None:
        position = cursors.read(cursor, bound_to=request.cursor_scope) if cursor else None
        self._cursors, self._request = cursors, request
        self.start: Key | None = position.key if position else None
        self.span = Span(since=position.since, until=position.until) if position else span

    def page(self, items: list[Any], next_key: Key | None) -> Any:
        position = Position(key=next_key, since=self.span.since, until=self.span.until) if next_key else None
        cursor = self._cursors.write(position, bound_to=self._request.cursor_scope) if position else None
        return {"items": items, "next_cursor": cursor}
