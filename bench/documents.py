"""Updates the counts in the documents, between their markers: `make bench-docs`. A test fails if they are outdated."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from bench import bill, capacity, prices
from bench.scaling import limits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from bench.counts import Counts

DOCS = Path(__file__).parent.parent / "docs"
DOCUMENTS = (DOCS / "cost.md", DOCS / "scaling.md")
MONTHS = (1_000_000, 10_000_000, 100_000_000)
MARKED = re.compile(r"(?<=<!-- counted: )(?P<block>\w+) -->\n.*?(?=<!-- end -->)", re.DOTALL)


def updated(text: str, counts: Counts) -> str:
    return MARKED.sub(lambda found: f"{found['block']} -->\n{_table(BLOCKS[found['block']](counts))}\n", text)


def update(counts: Counts) -> None:
    for document in DOCUMENTS:
        document.write_text(updated(document.read_text(), counts))


def _job(counts: Counts) -> Iterator[tuple[str, ...]]:
    yield "a normal job", "write units", "read units", "$ per million jobs"
    for name, units in sorted(counts.normal.writes.items()):
        yield f"`{name}`", f"{units:g}", f"{counts.normal.reads[name]:g}", _million(units, counts.normal.reads[name])
    yield "**everything**", *_total(counts.normal.written(), counts.normal.read())
    yield "jobs and history alone", *_total(counts.same_work, counts.normal.read())
    yield "the same with the original schema", *_total(counts.original.written(), counts.original.read())
    yield (
        "the same in the original estimate",
        *_total(prices.CLAIMED_WRITE_UNITS, prices.CLAIMED_READ_UNITS),
    )
    yield "the same on S3 (four PUT and four GET or HEAD requests)", "", "", f"{prices.S3_PER_MILLION_JOBS:.2f}"


def _lives(counts: Counts) -> Iterator[tuple[str, ...]]:
    yield "job", "write units", "read units", "$ per million jobs"
    for name, usage in counts.lives.items():
        yield name.replace("_", " "), *_total(usage.written(), usage.read())


def _month(counts: Counts) -> Iterator[tuple[str, ...]]:
    yield "dollars a month", *(f"{jobs // prices.MILLION} million jobs" for jobs in MONTHS)
    bills = [bill.month(counts, jobs) for jobs in MONTHS]
    for service in bills[0]:
        yield service, *(f"{bill_of_month[service]:,.2f}" for bill_of_month in bills)
    yield "**everything, on demand**", *(f"**{sum(bill_of_month.values()):,.2f}**" for bill_of_month in bills)
    provisioned = [bill.provisioned(counts, jobs) for jobs in MONTHS]
    yield "DynamoDB requests, provisioned", *(f"{dollars:,.2f}" for dollars in provisioned)
    rest = [sum(bill_of_month.values()) - bill_of_month["DynamoDB requests"] for bill_of_month in bills]
    yield "**everything, provisioned**", *(f"**{sum(both):,.2f}**" for both in zip(rest, provisioned, strict=True))


def _savings(counts: Counts) -> Iterator[tuple[str, ...]]:
    """Requests only, as in the original estimate. Each row has a job without and one with an approval."""
    yield "requests, $ per million jobs", "no approval", "with approval", "saved", "$ saved a month, 10 million jobs"
    yield "S3, estimated", *(f"{dollars:.2f}" for dollars in prices.S3), "", ""
    yield "DynamoDB on demand, estimated", *_saved(prices.CLAIMED_ON_DEMAND)
    yield "DynamoDB provisioned, estimated", *_saved(prices.CLAIMED_PROVISIONED)
    lives = (counts.normal, counts.lives["waiting"])
    same = [(usage.written(*capacity.SAME_WORK), usage.read()) for usage in lives]
    everything = [(usage.written(), usage.read()) for usage in lives]
    for name, units in (("jobs and history alone", same), ("everything", everything)):
        yield f"on demand, reached: {name}", *_saved([prices.requests(*each) * prices.MILLION for each in units])
    for name, units in (("jobs and history alone", same), ("everything", everything)):
        paid = [prices.provisioned_requests(*each) / bill.UTILISATION * prices.MILLION for each in units]
        yield f"provisioned, reached: {name}", *_saved(paid)


def _saved(paid: Sequence[float]) -> tuple[str, ...]:
    shares = [round(100 * (1 - dollars / before)) for before, dollars in zip(prices.S3, paid, strict=True)]
    month = [round(10 * (before - dollars)) for before, dollars in zip(prices.S3, paid, strict=True)]
    return *(f"{dollars:.2f}" for dollars in paid), f"{_range(shares)} %", _range(month)


def _range(values: Iterable[int]) -> str:
    """`9 to 44`, or one number if they are equal."""
    return " to ".join(map(str, sorted(set(values))))


def _limits(counts: Counts) -> Iterator[tuple[str, ...]]:
    yield "limit", "jobs a second", "because", "what to change"
    for limit in limits(counts):
        yield limit.name, f"{limit.jobs_a_second:,.0f}", limit.arithmetic, limit.remedy


BLOCKS: dict[str, Callable[[Counts], Iterable[tuple[str, ...]]]] = {
    "job": _job,
    "lives": _lives,
    "month": _month,
    "savings": _savings,
    "limits": _limits,
}


def _total(write_units: float, read_units: float) -> tuple[str, str, str]:
    return f"{write_units:g}", f"{read_units:g}", _million(write_units, read_units)


def _million(write_units: float, read_units: float) -> str:
    return f"{prices.requests(write_units, read_units) * prices.MILLION:.2f}"


def _table(rows: Iterable[tuple[str, ...]]) -> str:
    head, *body = rows
    numbers = (all(re.fullmatch(r"[*\d.,]*", row[column]) for row in body) for column in range(len(head)))
    rule = ["--:" if right else "---" for right in numbers]
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, rule, *body))
