"""Runs, attempts and the registry, whatever arrives first."""

from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest
from runledger.model.inputs import EventType, Facts, Receipt, Source, Status
from runledger.model.reports import Report
from runledger.model.runs import with_derived_status
from runledger.tables.attributes import from_attributes
from runledger.tables.run_attempts import RunAttempts
from runledger.webhooks.readers import dispatcher

from tests.simulation.explore import Flow, in_order, play
from tests.simulation.world import World
from tests.support import messages
from tests.support.ledgers import JOBS, RUNS
from tests.support.webhooks import (
    COMPLETED,
    IN_PROGRESS,
    INSTALLATION,
    JOB,
    QUEUED,
    REPO,
    RUN,
    delivery,
    payload,
    receipt,
)

RENAMED = "lineville/renamed"


def recording(received: Receipt) -> Flow:
    return lambda process: process.ledger.record(received)


def taking(received: Receipt | Report) -> Flow:
    return lambda process: process.ledger.dispatch(received)


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
    (found,) = dispatcher.read(delivery(message, guid=step, at=at))
    assert isinstance(found, Receipt)
    return found


def test_the_organisation_of_an_installation_is_known_in_every_order() -> None:
    for received_at in ("2025-01-15T09:59:59.000Z", "2025-01-15T10:00:30.000Z"):
        launch = replace(launched(repo_full_name=REPO), received_at=received_at)
        for order in permutations([launch, receipt(IN_PROGRESS)]):
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
    assert known.first_known([INSTALLATION], RUN, repo_full_name="mallory/prank") is None
    assert known.first_known([INSTALLATION], RUN, repo_full_name=REPO) == INSTALLATION
    assert known.of(1, RUN) == {}


def test_a_run_without_a_report_of_its_own_completes_with_its_jobs() -> None:
    first, second = JOB, JOB + 1
    life = [
        receipt(QUEUED, job_id=second, guid="q2", created_at="2025-01-15T10:00:07Z"),
        receipt(QUEUED, job_id=first, guid="q1"),
        receipt(IN_PROGRESS, job_id=first, guid="p1", at=150),
        receipt(COMPLETED, job_id=first, guid="c1", at=770),
        receipt(COMPLETED, job_id=second, guid="c2", at=780, created_at="2025-01-15T10:00:07Z"),
    ]
    seen = []
    for until in range(1, len(life) + 1):
        world = after(*life[:until])
        (run,) = items(world, RUNS, f"{INSTALLATION}#{RUN}#1")
        jobs = [items(world, JOBS, f"{INSTALLATION}#{each}") for each in (first, second)]
        seen.append(with_derived_status(run, [job["status"] for found in jobs for job in found]))
    assert [each["status"] for each in seen] == ["queued", "queued", "in_progress", "in_progress", "completed"]
    assert [each["created_at"][17:19] for each in seen] == ["07", "00", "00", "00", "00"]


def test_a_run_known_from_its_jobs_alone_is_stored_the_same_in_every_order() -> None:
    """The run is as old as its oldest job, even if a launcher's event without a creation time is recorded first."""
    known = launched(repo_full_name=REPO, run_id=RUN, run_attempt=1)
    other: dict[str, Any] = {"job_id": JOB + 1, "created_at": "2025-01-15T10:00:07Z"}
    inputs = [
        known,
        receipt(QUEUED),
        receipt(QUEUED, guid="q2", **other),
        receipt(COMPLETED, guid="c2", at=90, **other),
    ]
    for order in permutations(inputs):
        (run,) = items(after(*order), RUNS, f"{INSTALLATION}#{RUN}#1")
        assert (run["status"], run["created_at"]) == ("queued", "2025-01-15T10:00:00.000Z"), order


def test_an_older_report_of_a_run_changes_nothing() -> None:
    reports = [messages.run("requested"), messages.run("completed")]
    inputs = [
        received
        for place, (event, body) in enumerate(reports)
        for received in dispatcher.read(delivery(body, guid=str(place), at=60 * place, event=event))
    ]
    ends = []
    for order in permutations([*inputs, receipt(QUEUED)]):
        world = World()
        play(world, {"A": in_order(*map(taking, order))})
        (run,) = items(world, RUNS, f"{INSTALLATION}#{RUN}#1")
        ends.append({name: value for name, value in run.items() if name != "ttl"})
    assert all(end == ends[0] for end in ends)
    assert (ends[0]["status"], ends[0]["created_at"]) == ("completed", "2025-01-15T09:59:58.000Z")


def test_the_report_of_a_run_counts_more_than_its_jobs() -> None:
    reported = {"status": "queued", "updated_at": "x", "total_jobs": 1, "completed_jobs": 1, "created_at": "b"}
    assert with_derived_status(reported, ["completed"]) == reported


def test_installations_and_repositories_are_as_old_as_the_first_input_received() -> None:
    """Also for a process that has registered them, and for an input that is not the first of its job."""
    other = receipt(QUEUED, job_id=JOB + 1, guid="q2", at=300)
    inputs = [receipt(IN_PROGRESS, at=150), receipt(COMPLETED, at=770), other]
    for order in permutations(inputs):
        world = after(*order)
        (installation,) = items(world, JOBS, "installations")
        (repository,) = items(world, JOBS, f"repositories#{INSTALLATION}")
        assert {installation["first_seen_at"], repository["first_seen_at"]} == {"2025-01-15T10:02:30.123Z"}, order
