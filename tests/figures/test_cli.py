"""Every number that the CLI prints about a month, compared with one that is computed without the product's code."""

from collections import Counter
from datetime import datetime, timedelta
from typing import Any

from tests.api.client import Client
from tests.api.conftest import api, ledger
from tests.figures import cli, expected, printed
from tests.figures.month import BEGIN, NOW, REPOSITORIES, Fact, text
from tests.figures.test_month import LAST_TWO_DAYS, RANGES, month
from tests.functions.conftest import world

__all__ = ["api", "ledger", "month", "world"]


def test_every_number_that_the_cli_prints_follows_its_definition(api: Client, month: list[Fact]) -> None:
    for since, until, step in RANGES.values():
        for repo in (None, REPOSITORIES[0]):
            _compare_statistics(api, month, repo, (since, until, step))
    _compare_pools_and_repositories(api, month)
    _compare_lists(api, month)
    for fact in month:
        _compare_job(api, fact)
        _compare_run(api, fact)
    _compare_stuck(api, month)


def _compare_statistics(
    api: Client, month: list[Fact], repo: str | None, span: tuple[datetime, datetime, timedelta]
) -> None:
    since, until, step = span
    chosen = [fact for fact in month if repo in (None, fact.repo)]
    want = expected.statistics(chosen, since, until, step)
    of_one = ("--repo", repo) if repo else ()
    shown = cli.run(api, "stats", "--series", "--since", text(since), "--until", text(until), *of_one)
    facts = shown.facts()
    for name in ("by status", "by conclusion"):
        if name in facts:
            facts[name] = ", ".join(sorted(facts[name].split(", ")))
    assert facts == printed.statistics(chosen, want), (span, repo)
    start = since.replace(hour=0) if step == expected.DAY else since
    points = [printed.point(start + step * at, each) for at, each in enumerate(want["series"])]
    assert shown.table("FROM") == points, (span, repo)
    _compare_rankings(shown, chosen, since, until)


def _compare_rankings(shown: cli.Printed, facts: list[Fact], since: datetime, until: datetime) -> None:
    done = [fact for fact in expected.completed_in(facts, since, until) if fact.started]
    jobs = Counter((fact.repo, fact.name) for fact in done)
    slowest = Counter(expected.p90s_by_name(facts, since, until)).most_common(10)
    costliest = Counter(expected.costs_by_name(facts, since, until)).most_common(10)
    assert _by_name(shown.table("SLOWEST"), "SLOWEST") == {
        _title(name): {"P90": printed.duration(p90), "JOBS": str(jobs[name])} for name, p90 in slowest
    }
    assert _by_name(shown.table("MOST EXPENSIVE"), "MOST EXPENSIVE") == {
        _title(name): {"SPEND": printed.dollars(round(cost, 9)), "JOBS": str(jobs[name])}
        for name, cost in costliest
        if cost
    }


def _title(name: tuple[str, str]) -> str:
    return f"{name[0]} CI / {name[1]}"


def _by_name(rows: list[dict[str, str]], title: str) -> dict[str, dict[str, str]]:
    return {row.pop(title): row for row in rows}


def _compare_pools_and_repositories(api: Client, month: list[Fact]) -> None:
    want = expected.pools(month, BEGIN, NOW)
    types = {fact.machine.pool: fact.machine.instance_type for fact in month if fact.machine}
    shown = cli.run(api, "pools", "--since", text(BEGIN), "--until", text(NOW)).table("POOL")
    assert shown == [printed.pool(name, types[name], want[name]) for name in sorted(want)]
    for since in (BEGIN, LAST_TWO_DAYS):
        counted = cli.run(api, "repositories", "--since", text(since)).table("REPOSITORY")
        assert counted == [
            {"REPOSITORY": name, "JOBS": str(jobs)}
            for name, jobs in sorted(expected.repositories(month, since).items())
        ]


def _compare_lists(api: Client, month: list[Fact]) -> None:
    rows = [printed.row(fact) for fact in month] + [
        printed.copy_row(fact, job_id, _created_again(fact, at))
        for fact in month
        for at, job_id in enumerate(fact.copies)
    ]
    shown = [each for repo in REPOSITORIES for each in cli.run(api, "jobs", "--repo", repo, "--all").table("JOB")]
    assert _by_job(shown) == _by_job(rows)
    completed = cli.run(api, "jobs", "--status", "completed", "--completed", "--since", text(BEGIN), "--all").table(
        "JOB"
    )
    assert _by_job(completed) == _by_job(printed.row(fact) for fact in month if fact.completed)


def _created_again(fact: Fact, number: int) -> datetime:
    assert fact.completed
    return fact.completed + timedelta(minutes=10 + number)


def _by_job(rows: Any) -> dict[str, dict[str, str]]:
    return {row["JOB"]: row for row in rows}


def _compare_job(api: Client, fact: Fact) -> None:
    shown = cli.run(api, "job", str(fact.job_id))
    facts = shown.facts()
    assert facts["status"] == printed.row(fact)["STATUS"], fact
    assert facts.get("cost") == printed.cost(fact), fact
    assert facts.get("approval") == printed.approval(fact), fact
    assert facts["interrupted"] == ("yes" if fact.machine_died else "no"), fact
    assert _timeline(shown) == list(printed.timeline(fact)), fact
    for at, job_id in enumerate(fact.copies):
        copy = cli.run(api, "job", str(job_id))
        assert (copy.facts()["status"], copy.facts()["cost"]) == (f"{fact.conclusion} (carried over)", "$0.00")
        created = _created_again(fact, at)
        received = created + timedelta(seconds=1)
        assert _timeline(copy) == [
            f"{created:%Y-%m-%d %H:%M:%S}.000Z  ● created",
            "│ 1.0 s",
            f"{received:%Y-%m-%d %H:%M:%S}.000Z  ● received",
        ]


def _timeline(shown: cli.Printed) -> list[str]:
    return [line.strip() for line in shown.lines if any(mark in line for mark in "●│!")]


def _compare_run(api: Client, fact: Fact) -> None:
    completed, failed = int(fact.completed is not None), int(fact.conclusion in expected.FAILED)
    shown = cli.run(api, "run", str(fact.run_id), "--attempt", "1")
    assert shown.facts()["jobs"] == f"1: {completed} completed, {failed} failed", fact
    assert shown.table("JOB") == [printed.row(fact)], fact
    for at, job_id in enumerate(fact.copies):
        copied = cli.run(api, "run", str(fact.run_id), "--attempt", str(2 + at))
        assert copied.facts()["jobs"] == "0: 0 completed, 0 failed (1 more carried over)", fact
        assert copied.table("JOB") == [printed.copy_row(fact, job_id, _created_again(fact, at))], fact


def _compare_stuck(api: Client, month: list[Fact]) -> None:
    want = sorted((since, fact.job_id, fact) for fact in month if (since := expected.stuck_since(fact)))
    assert {expected.status(fact) for _, _, fact in want} == {"queued", "waiting", "scheduled", "in_progress"}
    shown = cli.run(api, "stuck").table("JOB")
    assert all(row.pop("ADVICE") for row in shown)
    assert _by_job(shown) == _by_job(printed.stuck(fact, since) for since, _, fact in want)
    assert [row["FOR"] for row in shown] == [printed.stuck(fact, since)["FOR"] for since, _, fact in want]
