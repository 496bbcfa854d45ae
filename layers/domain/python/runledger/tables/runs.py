"""workflow_runs: a cache of the run, and exact counters of its jobs.

A counter and the set that guards it change in one write, on the condition that the set does not hold the job yet: so
a second try is a refused condition, which is success, and no transaction is needed. A job is in one of two sets, so
that the item grows by one id a job and not by two; only a failed job is in a third.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from runledger import times
from runledger.model import Job, Status
from runledger.reports import RunReport, RunStatus
from runledger.tables import schema
from runledger.tables.attributes import from_attributes, reaching, to_attributes
from runledger.tables.reads import by_key, indexed
from runledger.tables.updates import advance, claim, update, update_if

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

NOT_COUNTED = "NOT contains(open_job_ids, :job_id) AND NOT contains(done_job_ids, :job_id)"
NOT_COUNTED_AS_DONE = "NOT contains(done_job_ids, :job_id)"
COUNTED_AS_FAILED = "contains(failed_job_ids, :job_id)"
NOT_COUNTED_AS_FAILED = f"NOT {COUNTED_AS_FAILED}"

OPEN, DONE = "open", "done"
REPORTED_ONLY = {"updated_at", "run_html_url", "conclusion"}

_COUNTERS = {"total_jobs": 0, "completed_jobs": 0, "failed_jobs": 0}
_IDENTITY = (
    *("installation_id", "run_id", "run_attempt", "repo_full_name", "workflow_name", "head_sha", "head_branch"),
    *("run_html_url", "created_at"),
)


class RunsTable:
    def __init__(self, client: "DynamoDBClient", name: str, *, retention_days: int) -> None:
        self._client = client
        self._name = name
        self._retention_days = retention_days

    @reaching("workflow_runs")
    def get(self, installation_id: int, run_id: int, run_attempt: int) -> dict[str, Any] | None:
        key = to_attributes(key_of(installation_id, run_id, run_attempt))
        answer = self._client.get_item(TableName=self._name, Key=key, ConsistentRead=True)
        return from_attributes(answer["Item"]) if "Item" in answer else None

    @reaching("workflow_runs")
    def among(self, wanted: Iterable[tuple[int, int, int]]) -> list[dict[str, Any]]:
        """By installation, run and attempt; who is not there is left out."""
        keys = [(_partition(*each), schema.ONLY) for each in wanted]
        return [from_attributes(item) for item in by_key(self._client, self._name, keys).values()]

    def open(self, installation_id: int) -> Iterator[dict[str, Any]]:
        """Oldest first; a run that nobody reports as finished stays among them until somebody asks GitHub."""
        partition = f"{installation_id}#{OPEN}"
        with reaching("workflow_runs"):
            for page in indexed(self._client, self._name, schema.BY_STATE, partition):
                yield from (run for item in page if (run := from_attributes(item))["status"] != RunStatus.COMPLETED)

    def count(self, job: Job, *, first: bool, is_guess: bool = False) -> None:
        """`first` says that the job isn't in the run's total, as far as is known. A guess corrects nothing."""
        if not job.run_is_known:
            return
        if job.status is not Status.COMPLETED:
            self._count_opened(job)
            return
        counted = first and self._count_done(job, total=1, condition=NOT_COUNTED)
        if not counted and not self._count_done(job, total=0, condition=NOT_COUNTED_AS_DONE) and not is_guess:
            self._correct(job)

    @reaching("workflow_runs")
    def absorb(self, report: RunReport) -> "RunNews":
        """Identity is always written, progress only if it is news: a run may complete again, a replay is older."""
        key = key_of(report.installation_id, report.run_id, report.run_attempt)
        identity = {name: getattr(report, name) for name in _IDENTITY} | self._expiry(report.reported_at)
        identity["checked_at"] = report.reported_at
        progress = {
            "conclusion": report.conclusion,
            "updated_at": report.updated_at,
            schema.BY_STATE.partition: _state(report.installation_id, report.status),
        }
        news: dict[str, Any] = {"put": identity | progress, "add": _COUNTERS, "returning": "ALL_NEW"}
        changed = advance(self._client, self._name, key, report.status, dated="updated_at", **news)
        if changed is None:
            # A job may have led to a further status before the first report.
            first = {"updated_at": report.updated_at}
            changed = update(self._client, self._name, key, **news | {"put": identity, "fill": first})
        return _news(changed)

    @reaching("workflow_runs")
    def note_cut_short(self, job: Job) -> "RunNews":
        """Whoever is second, the end of the run or the last job that was cut short, sees that both are there."""
        changed = update(
            self._client,
            self._name,
            key_of(job.installation_id, job.run_id or 0, job.run_attempt or 1),
            fill=_known_from(job) | self._expiry(job.last_updated_at),
            add={"cut_short_job_ids": {job.job_id}},
            returning="ALL_NEW",
        )
        return _news(changed)

    @reaching("workflow_runs")
    def claim(self, installation_id: int, run_id: int, run_attempt: int, *, at: str, until: str) -> bool:
        return claim(
            self._client,
            self._name,
            key_of(installation_id, run_id, run_attempt),
            at=at,
            until=until,
            expiry=times.expiry(at, self._retention_days),
        )

    @reaching("workflow_runs")
    def note_checked(self, installation_id: int, run_id: int, run_attempt: int, *, at: str) -> None:
        """GitHub was asked, and there is nothing else to write: perhaps it knows no such run."""
        update(self._client, self._name, key_of(installation_id, run_id, run_attempt), put={"checked_at": at})

    def _count_opened(self, job: Job) -> None:
        self._count(
            job,
            fill=_known_from(job) | _open(job, RunStatus.IN_PROGRESS if job.started_at else RunStatus.QUEUED),
            add=_COUNTERS | {"open_job_ids": {job.job_id}, "total_jobs": 1},
            condition=NOT_COUNTED,
        )

    def _count_done(self, job: Job, *, total: int, condition: str) -> bool:
        return self._count(
            job,
            fill=_known_from(job) | _open(job, RunStatus.IN_PROGRESS),
            add={
                "done_job_ids": {job.job_id},
                "total_jobs": total,
                "completed_jobs": 1,
                "failed_jobs": int(job.failed),
                "failed_job_ids": {job.job_id} if job.failed else None,
            },
            discard={"open_job_ids": {job.job_id}},
            condition=condition,
        )

    def _correct(self, job: Job) -> None:
        """The job was counted before, perhaps with another conclusion."""
        ids = {"failed_job_ids": {job.job_id}}
        if job.failed:
            self._count(job, add=ids | {"failed_jobs": 1}, condition=NOT_COUNTED_AS_FAILED)
        else:
            self._count(job, add={"failed_jobs": -1}, discard=ids, condition=COUNTED_AS_FAILED)

    @reaching("workflow_runs")
    def _count(self, job: Job, **arguments: Any) -> bool:
        """False if the condition was refused: then it is counted already."""
        counted = update_if(
            self._client,
            self._name,
            key_of(job.installation_id, job.run_id or 0, job.run_attempt or 1),
            put=self._expiry(job.last_updated_at),
            given={"job_id": job.job_id},
            **arguments,
        )
        return counted is not None

    def _expiry(self, at: str) -> dict[str, int]:
        return {schema.EXPIRY: times.expiry(at, self._retention_days)}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunNews:
    """What somebody who changed a run may have to act on."""

    may_be_rerun: bool


def _news(run: dict[str, Any]) -> RunNews:
    return RunNews(may_be_rerun=run.get("status") == RunStatus.COMPLETED and "cut_short_job_ids" in run)


def _open(job: Job, status: RunStatus) -> dict[str, str]:
    """A status and the state that follows from it are always written together."""
    return {"status": status, schema.BY_STATE.partition: _state(job.installation_id, status)}


def _state(installation_id: int, status: RunStatus) -> str:
    return f"{installation_id}#{DONE if status is RunStatus.COMPLETED else OPEN}"


def _known_from(job: Job) -> dict[str, Any]:
    """A run may be known from its jobs alone, until a report of its own fills in the rest."""
    return {name: getattr(job, name) for name in _IDENTITY if name != "run_html_url"}


def as_its_jobs_tell(run: Mapping[str, Any], created: Iterable[str]) -> dict[str, Any]:
    """A run without a report of its own has the status that its counters imply and is as old as its oldest job.

    That follows from the jobs when the run is read, because storing it would cost a write for each of them.
    """
    if run.keys() & REPORTED_ONLY:
        return dict(run)
    total, completed = run.get("total_jobs", 0), run.get("completed_jobs", 0)
    status = run["status"]
    if completed:
        status = RunStatus.COMPLETED if completed == total else RunStatus.IN_PROGRESS
    known = [each for each in (run.get("created_at"), *created) if each]
    return {**run, "status": status, **({"created_at": min(known)} if known else {})}


def key_of(installation_id: int, run_id: int, run_attempt: int) -> dict[str, str]:
    return {schema.PARTITION: _partition(installation_id, run_id, run_attempt), schema.SORT: schema.ONLY}


def _partition(installation_id: int, run_id: int, run_attempt: int) -> str:
    return f"{installation_id}#{run_id}#{run_attempt}"
