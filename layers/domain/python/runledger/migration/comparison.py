"""Compares the job that stored webhooks produce with the job in the ledger. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from runledger.model.dataclass import dataclass
from runledger.model.inputs import Facts, Receipt, Status
from runledger.model.job import REVIEW_TIMES, Job
from runledger.recording.decision import IDENTITY, decide

# Reviews and other webhooks report these times more exactly.
NOT_COMPARED = {*REVIEW_TIMES}
COMPARED = [name for name in vars(Facts()) if name not in NOT_COMPARED]
MISSING_JOB = "job"


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """`stored` is the value in S3. `recorded` is None if the ledger doesn't have the attribute, or the job."""

    installation_id: int
    job_id: int
    attribute: str
    stored: Any
    recorded: Any

    def __str__(self) -> str:
        job = f"job {self.job_id} of installation {self.installation_id}"
        if self.attribute == MISSING_JOB:
            return f"{job}: missing in the ledger"
        recorded = "absent" if self.recorded is None else self.recorded
        return f"{job}: {self.attribute} is {self.stored} in S3 and {recorded} in the ledger"

    def as_json(self) -> Mapping[str, Any]:
        values = {"installation_id": self.installation_id, "job_id": self.job_id, "attribute": self.attribute}
        return values | {"s3": _plain(self.stored), "ledger": _plain(self.recorded)}


def expected(receipts: Iterable[Receipt]) -> Job:
    """The job that the ledger would have if these were all of its webhooks. Needs at least one."""
    job: Job | None = None
    for receipt in receipts:
        job = decide(job, receipt).job
    assert job is not None
    return job


def differences(receipts: Iterable[Receipt], recorded: Job | None) -> Iterator[Difference]:
    job = expected(receipts)
    about = {"installation_id": job.installation_id, "job_id": job.job_id}
    if recorded is None:
        yield Difference(**about, attribute=MISSING_JOB, stored=job.status, recorded=None)
        return
    ahead = _is_ahead(recorded, job)
    if not ahead and recorded.status is not job.status:
        yield Difference(**about, attribute="status", stored=job.status, recorded=recorded.status)
    for name in COMPARED:
        stored, found = getattr(job, name), getattr(recorded, name)
        if stored is None or _is_same(name, stored, found):
            continue
        # A later webhook may have corrected other attributes, but never those that identify the job.
        if found is None or not ahead or name in IDENTITY:
            yield Difference(**about, attribute=name, stored=stored, recorded=found)


def _is_ahead(recorded: Job, stored: Job) -> bool:
    """Whether the ledger has a later status than S3, or a later report that the job is queued or waiting."""
    if recorded.status.rank != stored.status.rank:
        return recorded.status.rank > stored.status.rank
    return stored.status.rank == Status.QUEUED.rank and recorded.last_updated_at > stored.last_updated_at


def _is_same(name: str, stored: Any, recorded: Any) -> bool:
    """Any webhook of a job may move its creation back. Labels are a set."""
    if recorded is None:
        return False
    if name == "created_at":
        return bool(recorded <= stored)
    return sorted(stored) == sorted(recorded) if name == "labels" else bool(stored == recorded)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
