"""The digest as lines for people. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any

from runledger.model import times
from runledger.notifications.words import duration, money, percent

Data = Mapping[str, Any]


def title(data: Data) -> str:
    since, until = str(data.get("since", ""))[:10], str(data.get("until", ""))[:10]
    schedule = str(data.get("schedule", "")).capitalize()
    return f"{schedule} digest: {data.get('jobs', 0)} jobs from {since} to {until}".strip()


def lines(data: Data) -> Iterator[str]:
    """Omits empty sections. One line if there were no jobs."""
    if not data.get("jobs") and not data.get("forgotten_approvals"):
        yield "No jobs in this period."
        return
    yield from _totals(data)
    yield from _section("Failed most", data.get("failed_most"), _failed)
    yield from _section("Slowest (90th percentile)", data.get("slowest"), _slow)
    yield from _section("Most expensive", data.get("costliest"), _costly)
    yield from _approvals(data)
    if data.get("truncated"):
        yield "There were too many jobs to read in time, so the figures are too low."


def _totals(data: Data) -> Iterator[str]:
    yield _joined(
        _counted(data.get("succeeded"), "succeeded"),
        _counted(data.get("failed"), "failed"),
        _after("success rate", percent(data.get("success_rate"))),
        _counted(data.get("interruptions") or None, "interrupted"),
    )
    waited = data.get("queue_seconds")
    if isinstance(waited, Mapping):
        yield _joined(
            _after("queue time: median", duration(waited.get("p50"))),
            _after("90th percentile", duration(waited.get("p90"))),
        )
    yield _joined(
        _after("cost", money(data.get("usage_in_dollars"))),
        _after("spot savings", money(data.get("savings_in_dollars"))),
        _after("spot share", percent(data.get("spot_share"))),
    )


def _section(heading: str, entries: object, line: Any) -> Iterator[str]:
    found = [each for each in entries if isinstance(each, Mapping)] if isinstance(entries, list) else []
    if found:
        yield f"{heading}:"
        yield from (f"• {line(each)}" for each in found)


def _failed(entry: Data) -> str:
    return f"{_name(entry)}: {entry.get('failed')} of {entry.get('jobs')}"


def _slow(entry: Data) -> str:
    return f"{_name(entry)}: {duration(entry.get('p90_seconds'))}"


def _costly(entry: Data) -> str:
    jobs = "1 job" if entry.get("jobs") == 1 else f"{entry.get('jobs')} jobs"
    return f"{_name(entry)}: {money(entry.get('usage_in_dollars'))} for {jobs}"


def _approvals(data: Data) -> Iterator[str]:
    def line(entry: Data) -> str:
        where = f"{entry.get('environment', 'an environment')} in {entry.get('repo_full_name', 'a repository')}"
        return f"{where}: waiting for {_waited(entry.get('waiting_since'), data.get('until'))}"

    yield from _section("Forgotten approvals", data.get("forgotten_approvals"), line)
    listed, total = data.get("forgotten_approvals"), data.get("forgotten_approvals_total")
    if isinstance(listed, list) and isinstance(total, int) and total > len(listed):
        yield f"• and {total - len(listed)} more"


def _waited(since: object, until: object) -> str:
    try:
        return duration(times.ms_between(str(since), str(until)) // times.MS_PER_SECOND) or "0 s"
    except (ValueError, TypeError):
        return "an unknown time"


def _name(entry: Data) -> str:
    names = (entry.get("workflow_name"), entry.get("job_name"))
    return (
        f"{' / '.join(str(each) for each in names if each) or 'jobs'} in {entry.get('repo_full_name', 'a repository')}"
    )


def _counted(number: object, what: str) -> str | None:
    return f"{number} {what}" if number is not None else None


def _after(words: str, value: str | None) -> str | None:
    return f"{words} {value}" if value is not None else None


def _joined(*parts: str | None) -> str:
    return ", ".join(part for part in parts if part)
