"""A job's history describes the job: replayed, it is the stored one except for what the history omits."""

import random
from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest
from runledger.model.inputs import Receipt, Source
from runledger.model.job import Job
from runledger.recording.decision import IDENTITY
from runledger.recording.ledger import Ledger
from runledger.recording.replay import replay

from tests.simulation.engine import Engine
from tests.support.ledgers import ledger_on
from tests.support.webhooks import COMPLETED, IN_PROGRESS, INSTALLATION, JOB, LIFE, QUEUED, WAITING, receipt

# Digests of webhooks aren't in the history, and `created_at_is_guessed` only matters until GitHub reports a time.
OMITTED = {*IDENTITY, "webhooks", "created_at_is_guessed"}


@pytest.fixture
def ledger() -> Ledger:
    client: Any = Engine()
    return ledger_on(client)


def stored(ledger: Ledger) -> Job:
    job = ledger.jobs.get(INSTALLATION, JOB, consistent=True)
    assert job is not None
    return job


def replayed(ledger: Ledger) -> Job:
    before = stored(ledger)
    identity = {name: getattr(before, name) for name in IDENTITY if name not in ("installation_id", "job_id")}
    job = replay(ledger.events.history(INSTALLATION, JOB), identity)
    assert job is not None
    return job


def shown(job: Job) -> dict[str, Any]:
    return {name: value for name, value in vars(job).items() if name not in OMITTED}


def reconciled(step: str, *, at: int) -> Receipt:
    """An input of the reconciler, which has no body."""
    return replace(receipt(step, at=at, guid=f"internal {at}"), body_digest=None, source=Source.INTERNAL)


@pytest.mark.parametrize("steps", list(permutations((QUEUED, WAITING, IN_PROGRESS, COMPLETED), 4)), ids=" ".join)
def test_webhooks_in_any_order_are_replayed(ledger: Ledger, steps: tuple[str, ...]) -> None:
    for at, step in enumerate(steps):
        ledger.record(receipt(step, at=at))
        assert shown(replayed(ledger)) == shown(stored(ledger))


def test_duplicates_and_late_webhooks_are_replayed(ledger: Ledger) -> None:
    steps = [*LIFE, *LIFE, *LIFE]
    random.Random(3).shuffle(steps)  # noqa: S311
    for at, step in enumerate(steps):
        ledger.record(receipt(step, at=at))
    job = replayed(ledger)
    assert shown(job) == shown(stored(ledger))
    assert (job.status, job.conclusion, job.usage_in_seconds) == ("completed", "success", 615)


def test_a_replayed_job_recognises_the_internal_inputs_that_it_has_absorbed(ledger: Ledger) -> None:
    ledger.record(receipt(QUEUED))
    ledger.record(reconciled(COMPLETED, at=60))
    assert replayed(ledger).inputs == stored(ledger).inputs != ()


def test_without_events_there_is_no_job() -> None:
    assert replay([]) is None


def test_a_history_whose_first_events_have_expired_shows_the_latest_state(ledger: Ledger) -> None:
    for at, step in enumerate(LIFE):
        ledger.record(receipt(step, at=at))
    job = replay(ledger.events.history(INSTALLATION, JOB)[-2:])
    assert job is not None
    assert (job.status, job.conclusion, job.version) == ("completed", "success", stored(ledger).version)
