"""Requests and results of the reconciler's passes, stored in runners, sorted by time."""

import json
import secrets
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from runledger.model import times
from runledger.tables import schema
from runledger.tables.attributes import from_attributes
from runledger.tables.pages import Partition, Span
from runledger.tables.table import Table

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

NEXT = "next_pass"
KEPT_DAYS = 14


class PassesTable:
    def __init__(self, client: "DynamoDBClient", name: str) -> None:
        self._table = Table(client, name, label="runners")

    def note(self, pass_id: str, *, at: str, **about: Any) -> None:
        """Adds attributes. Summary and findings are stored as JSON, because they are always read as a whole."""
        values = {
            name: json.dumps(value) if isinstance(value, Mapping | list) else value for name, value in about.items()
        }
        put = values | {"id": pass_id, schema.EXPIRY: times.expiry(at, KEPT_DAYS)}
        self._table.update(_key(pass_id), put=put)

    def get(self, pass_id: str) -> dict[str, Any] | None:
        found = self._table.read(_key(pass_id))
        return _attributes(found) if found else None

    def newest(self, limit: int, *, before: str | None = None) -> list[dict[str, Any]]:
        """`before` is the id of the last pass of the previous page."""
        found = self._table.page(Partition(value=schema.PASSES), Span(until=before), limit=limit)
        return [_attributes(from_attributes(item)) for item in found.items]

    def first_part(self, kind: str) -> str | None:
        """The part that the next pass of this kind starts with. None for the usual order."""
        return (self._table.read(_next_key(kind)) or {}).get("begin_with")

    def set_first_part(self, kind: str, part: str | None) -> None:
        if part:
            self._table.update(_next_key(kind), put={"begin_with": part})
        else:
            self._table.delete(_next_key(kind))


def new_pass_id(at: str) -> str:
    """Sortable by time, and safe in a URL."""
    return f"{at.translate(str.maketrans('', '', '-:.'))}-{secrets.token_hex(3)}"


def _key(pass_id: str) -> dict[str, str]:
    return {schema.PARTITION: schema.PASSES, schema.SORT: pass_id}


def _next_key(kind: str) -> dict[str, str]:
    return {schema.PARTITION: NEXT, schema.SORT: kind}


def _attributes(item: dict[str, Any]) -> dict[str, Any]:
    about = {name: value for name, value in item.items() if name not in (schema.PARTITION, schema.SORT, schema.EXPIRY)}
    return about | {name: json.loads(about[name]) for name in ("summary", "findings") if name in about}
