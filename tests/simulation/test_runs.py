"""Runs, attempts and the registry, whatever arrives first."""

from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest
from runledger.model import EventType, Facts, Receipt, Source, Status
from runledger.reading import webhooks
from runledger.tables.attributes import from_attributes
from runledger.tables.run_attempts import RunAttempts
from runledger.tables.runs import as_its_jobs_tell

from tests.ledgers import JOBS, RUNS
from tests.simulation.explore import Flow, in_order, play
from tests.simulation.world import World
from tests.webhooks import COMPLETED, IN_PROGRESS, INSTALLATION, JOB, QUEUED, REPO, RUN, delivery, payload, receipt

RENAMED = "lineville/renamed"


def recording(received: Receipt) -> Flow:
    return lambda process: process.ledger.record(received)


def after(*receipts: Receipt) -> World:
    world = World()
    play(world, {"A": in_order(*map(recording, receipts))})
    return world


def items(world: World, table: str, partition: str) -> list[dict[str, Any]]:
    return [from_attributes(item) for key, item in world.engine.snapshot().items[table].items() if key[0] == partition]


def launched(**facts: Any) -> Receipt:
    return Receipt(
        installation_id=INSTALLATION,
        job_id=JOB,
        delivery_id="scheduled",
        received_at="2025-01-15T10:00:30.000Z",
        event_type=EventType.RUNNER_SCHEDULED,
        source=Source.INTERNAL,
        status=Status.SCHEDULED,
        facts=Facts(**facts),
    )


def renamed(step: str, *, at: int) -> Receipt:
    message = payload(step)
    message["repository"]["full_name"] = RENAMED
    (found,) = webhooks.read(delivery(message, guid=step, at=at))
    assert isinstance(found, Receipt)
    return found


def test_the_organisation_of_an_installation_is_known_in_every_order() -> None:
    for order in permutations([launched(repo_full_name=REPO), receipt(QUEUED)]):
        (installation,) = items(after(*order), JOBS, "installations")
        assert installation["org_name"] == "lineville"


def test_a_repository_that_is_renamed_in_mid_job_is_registered_under_both_names() -> None:
    """Statistics of an installation add up its registered repositories."""
    for order in permutations([receipt(QUEUED), receipt(IN_PROGRESS, at=150), renamed(COMPLETED, at=770)]):
        world = after(*order)
        found = items(world, JOBS, f"repositories#{INSTALLATION}")
        assert {each["repo_full_name"] for each in found} == {REPO, RENAMED}
        (job,) = items(world, JOBS, f"{INSTALLATION}#{JOB}")
        assert job["by_repo"] == f"{INSTALLATION}#{RENAMED}"


def test_a_job_known_only_from_a_launcher_registers_its_repository() -> None:
    later = replace(launched(repo_full_name=REPO), delivery_id="rescheduled")
    for order in ([launched(repo_full_name=REPO)], [launched(), later], [later, launched()]):
        found = items(after(*order), JOBS, f"repositories#{INSTALLATION}")
        assert [each["repo_full_name"] for each in found] == [REPO]


@pytest.mark.parametrize("attempts", [(1,), (4,), (2, 9), (1, 2, 3, 4, 5, 6, 7), (30,), (30, 31)])
def test_a_run_is_found_whichever_attempt_was_seen_first(attempts: tuple[int, ...]) -> None:
    world = after(*(receipt(QUEUED, job_id=JOB + each, guid=str(each), run_attempt=each) for each in attempts))
    known = RunAttempts(world.engine, RUNS)  # type: ignore[arg-type]
    assert known.first_known([1, INSTALLATION], RUN) == INSTALLATION
    found = set(known.of(INSTALLATION, RUN))
    assert found == ({2} if attempts == (2, 9) else set(attempts))
    assert known.first_known([1], RUN) is None
    assert known.of(1, RUN) == {}


def test_a_run_without_a_report_of_its_own_completes_with_its_jobs() -> None:
    first, second = JOB, JOB + 1
    life = [
        receipt(QUEUED, job_id=second, guid="q2", created_at="2025-01-15T10:00:07Z"),
        receipt(QUEUED, job_id=first, guid="q1"),
        receipt(COMPLETED, job_id=first, guid="c1", at=770),
        receipt(COMPLETED, job_id=second, guid="c2", at=780, created_at="2025-01-15T10:00:07Z"),
    ]
    seen = []
    for until in range(1, len(life) + 1):
        world = after(*life[:until])
        (run,) = items(world, RUNS, f"{INSTALLATION}#{RUN}#1")
        jobs = [items(world, JOBS, f"{INSTALLATION}#{each}") for each in (first, second)]
        seen.append(as_its_jobs_tell(run, [job["created_at"] for found in jobs for job in found]))
    assert [each["status"] for each in seen] == ["queued", "queued", "in_progress", "completed"]
    assert seen[-1]["created_at"] == "2025-01-15T10:00:00.000Z"


def test_the_report_of_a_run_counts_more_than_its_jobs() -> None:
    reported = {"status": "in_progress", "updated_at": "x", "total_jobs": 1, "completed_jobs": 1, "created_at": "b"}
    assert as_its_jobs_tell(reported, ["a"]) == reported
