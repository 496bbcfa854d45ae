"""When a job completed: what GitHub reports counts more than the time of the report."""

from itertools import permutations

from runledger.model.inputs import Receipt, Status
from runledger.model.job import Job
from runledger.recording.decision import decide

from tests.support.webhooks import COMPLETED, IN_PROGRESS, QUEUED, receipt

REPORTED = "2025-01-15T10:12:45.000Z"


def without_time(*, at: int, guid: str) -> Receipt:
    """The webhooks of two hooks differ, so neither is a duplicate of the other."""
    return receipt(COMPLETED, at=at, guid=guid, completed_at=None, node_id=guid)


def recorded(order: tuple[Receipt, ...]) -> Job:
    job: Job | None = None
    for each in order:
        job = decide(job, each).job
    assert job is not None
    return job


def test_a_completion_without_a_time_counts_at_its_first_receipt_in_every_order() -> None:
    earlier, later = without_time(at=800, guid="one hook"), without_time(at=900, guid="another hook")
    for order in permutations([receipt(QUEUED), receipt(IN_PROGRESS, at=160), earlier, later]):
        job = recorded(order)
        assert (job.status, job.completed_at, job.completed_at_is_guessed) == (
            Status.COMPLETED,
            earlier.received_at,
            True,
        )
        assert job.usage_in_seconds == 650  # from 10:02:30 to 10:13:20


def test_a_reported_completion_replaces_a_guessed_one_in_every_order() -> None:
    for order in permutations(
        [receipt(IN_PROGRESS, at=160), without_time(at=900, guid="a"), receipt(COMPLETED, at=950)]
    ):
        job = recorded(order)
        assert (job.completed_at, job.completed_at_is_guessed, job.usage_in_seconds) == (REPORTED, None, 615)


def test_an_open_job_has_no_completion() -> None:
    job = recorded((receipt(QUEUED), receipt(IN_PROGRESS, at=160)))
    assert (job.completed_at, job.completed_at_is_guessed) == (None, None)
