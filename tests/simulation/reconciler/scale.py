"""A large deployment for some hours: 5,000 open jobs in 300 repositories, a run for each, and what each hour brings."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache, partial
from typing import Any
from unittest.mock import patch

from runledger.model import times
from runledger.model.inputs import Receipt, Status
from runledger.model.job import Job
from runledger.model.passes import PassKind
from runledger.model.reports import RunReport, RunStatus
from runledger.reconciliation.passes import Pass
from runledger.reconciliation.reconciler import Part, Reconciler

from tests.simulation.reconciler.machines import Machine
from tests.simulation.reconciler.production import wired_to
from tests.simulation.reconciler.troubles import HOUR, MINUTE, Troubles
from tests.simulation.reconciler.world import START, World
from tests.support.webhooks import IN_PROGRESS, QUEUED, WAITING, receipt

INSTALLATION, ORGANISATION = 501, "acme"
REPOSITORIES, JOBS, ORPHANS, LOST, CALLS_AN_HOUR = 300, 5000, 100, 50, 12_500
GITHUB_SECONDS = 0.15  # what a call takes, as measured from us-east-1
PARTS = ("installations", "jobs", "runners", "uninstalled", "approvals", "deliveries")
# Of twenty jobs: how they stand here, and on GitHub. All have been so for an hour.
STANDS = (
    *((IN_PROGRESS, "in_progress"),) * 17,
    (QUEUED, "queued"),
    (IN_PROGRESS, "completed"),
    (QUEUED, "completed"),
)


@dataclass
class Hour:
    passes: int = 0
    calls: int = 0
    behind: int = 0
    """Jobs that are open here and have ended on GitHub, when the hour is over."""
    parts: set[str] = field(default_factory=set)
    counts: Counter[str] = field(default_factory=Counter)


def play(hours: int) -> list[Hour]:
    world = World(Troubles(name="scale", silent_at=0), github_seconds=GITHUB_SECONDS)
    world.github.state.configure(rate_limit=CALLS_AN_HOUR)
    results = [Hour() for _ in range(hours)]
    with wired_to(world), patch.object(Reconciler, "_parts", _noting(world, results)):
        _fill(world)
        for tick in range(hours * 12):
            kinds = [PassKind.QUICK, PassKind.FULL] if tick % 6 == 0 else [PassKind.QUICK]
            world.at(START + tick * 5 * MINUTE, "pass", partial(_pass, world, results, *kinds))
        for number, hour in enumerate(results, start=1):
            world.play(START + number * HOUR - 1)
            hour.behind = _behind(world)
    assert not world.wrong, world.wrong
    return results


def _behind(world: World) -> int:
    ledger, jobs = world.receiving.intake.ledger, world.github.state.jobs.values()
    found = ledger.jobs.among((INSTALLATION, each.id) for each in jobs if each.status == "completed")
    return sum(each.status is not Status.COMPLETED for each in found.values())


def _hour(world: World, results: list[Hour]) -> Hour:
    return results[min(int((world.now() - START) // HOUR), len(results) - 1)]


def _pass(world: World, results: list[Hour], *kinds: PassKind) -> None:
    hour, before = _hour(world, results), sum(world.github.state.calls.values())
    for each in world.reconcile(*kinds):
        assert each.result is not None
        hour.counts.update(each.result["summary"])
        hour.passes += 1
    hour.calls += sum(world.github.state.calls.values()) - before


def _noting(world: World, results: list[Hour]) -> Callable[..., Mapping[str, Part]]:
    """Which parts begin in which hour."""
    parts = Reconciler._parts

    def begin(name: str, part: Part, current: Pass) -> bool:
        _hour(world, results).parts.add(name)
        return part(current)

    def noted(self: Reconciler, *arguments: Any) -> Mapping[str, Part]:
        return {name: partial(begin, name, part) for name, part in parts(self, *arguments).items()}

    return noted


def _fill(world: World) -> None:
    state, ledger = world.github.state, world.receiving.intake.ledger
    state.put("installations", INSTALLATION, account=ORGANISATION)
    for number in range(1, JOBS + 1):
        _put(world, number, *STANDS[number % len(STANDS)])
    _put(world, JOBS + 1, WAITING, "waiting", hours=25)
    ledger.installations.register(
        installation_id=INSTALLATION, org_name=ORGANISATION, repo_full_name=None, first_seen_at=_ago(1)
    )
    for number in range(1, ORPHANS + 1):
        tags = {"runner": "yes", "ghr:Owner": ORGANISATION}
        machine = Machine(f"i-{number:017x}", tags, START - 2 * HOUR)
        world.ec2.machines[machine.id] = machine
        state.put("runners", number, scope=_repository(number), name=f"runner-{machine.id}")
    for number in range(LOST):
        world.github.deliveries.log_failure("ping", b"{}", f"lost-{number}")


def _repository(number: int) -> str:
    return f"{ORGANISATION}/repository-{number % REPOSITORIES}"


def _ago(hours: float) -> str:
    return times.from_epoch_ms(round((START - hours * HOUR) * times.MS_PER_SECOND))


@cache
def _read(step: str) -> Receipt:
    return receipt(step)


def _put(world: World, number: int, here: str, there: str, *, hours: float = 1) -> None:
    """The job is put where it is found, without the way that it came."""
    ledger, at, repository = world.receiving.intake.ledger, _ago(hours), _repository(number)
    github_time = datetime.fromtimestamp(START - hours * HOUR, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    ledger.runs.absorb(
        RunReport(
            installation_id=INSTALLATION,
            run_id=number,
            run_attempt=1,
            reported_at=at,
            status=RunStatus.IN_PROGRESS,
            created_at=at,
            repo_full_name=repository,
        )
    )
    read = _read(here)
    named: dict[str, Any] = {"repo_full_name": repository, "org_name": ORGANISATION, "run_id": number}
    facts = replace(read.facts, **named, run_attempt=1, created_at=at, started_at=at if here == IN_PROGRESS else None)
    read = replace(read, installation_id=INSTALLATION, job_id=number, received_at=at, facts=facts)
    ledger.jobs.save(None, replace(Job.opened_by(read).absorb(read), version=0))
    world.github.state.put("runs", number, repository=repository, created_at=github_time)
    ended = {"conclusion": "success", "completed_at": github_time} if there == "completed" else {}
    about = {"run_id": number, "status": there, "created_at": github_time, "started_at": github_time}
    world.github.state.put("jobs", number, **about, **ended)


def table(results: list[Hour]) -> list[str]:
    """The table in docs/scaling.md."""
    rows = [
        "| hour | passes | calls to GitHub | runs checked | jobs corrected | jobs left to correct "
        "| machines terminated | parts that ran |",
        "| --: | --: | --: | --: | --: | --: | --: | --: |",
    ]
    for number, hour in enumerate(results, start=1):
        of = hour.counts
        done = (of["runs_asked"], of["jobs_healed"], hour.behind, of["orphans_cleaned"])
        cells = " | ".join(f"{each:,}" for each in (hour.passes, hour.calls, *done))
        rows.append(f"| {number} | {cells} | {len(hour.parts)} of {len(PARTS)} |")
    return rows
