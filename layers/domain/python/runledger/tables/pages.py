"""Queries of one partition: the range of items, and a page of the result."""

from collections.abc import Mapping
from typing import Any, Generic, TypeVar

from runledger.model.dataclass import dataclass
from runledger.tables import schema

Key = Mapping[str, str]
Item = dict[str, Any]
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A range of sort keys: from `since` on, and before `until`."""

    since: str | None = None
    until: str | None = None


ALWAYS = Span()


def beginning_with(prefix: str) -> Span:
    return Span(since=prefix, until=f"{prefix}\U0010ffff")


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """Everything under one key of a table, or of one of its indexes, in order of its sort key."""

    value: str
    index: schema.Index | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Generic[T]):
    """`next_key` is the start of the next page; None for the last page."""

    items: list[T]
    next_key: Key | None


def query_arguments(partition: Partition, span: Span) -> dict[str, Any]:
    index = partition.index
    condition, values = _within(span)
    names = {"#partition": index.partition if index else schema.PARTITION}
    if condition:
        names["#sort"] = index.sort if index else schema.SORT
    return {
        **({"IndexName": index.name} if index else {}),
        "KeyConditionExpression": "#partition = :partition" + condition,
        "ExpressionAttributeNames": names,
        "ExpressionAttributeValues": {":partition": {"S": partition.value}, **values},
    }


def _within(span: Span) -> tuple[str, dict[str, Any]]:
    since = {":since": {"S": span.since}} if span.since else {}
    # BETWEEN includes its end. An instant without its Z sorts before that instant, and after every earlier one.
    until = {":until": {"S": span.until.removesuffix("Z")}} if span.until else {}
    match bool(since), bool(until):
        case True, True:
            return " AND #sort BETWEEN :since AND :until", since | until
        case True, False:
            return " AND #sort >= :since", since
        case False, True:
            return " AND #sort < :until", until
    return "", {}
