"""workflow_runs: a cache of the run, and exact counters of its jobs.

A counter and a set of job ids change in one write, on condition that the set doesn't contain the job: a repeated write
fails the condition, which counts as success, and no transaction is needed. A job is in the set of open or of completed
jobs, so the item grows by one id per job; only failed jobs are in a third set.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from runledger.model import times
from runledger.model.inputs import Status
from runledger.model.job import Job
from runledger.model.reports import RUN_NAMES, RunReport, RunStatus
from runledger.platform.availability import reaching
from runledger.tables import schema
from runledger.tables.attributes import from_attributes, to_attributes
from runledger.tables.reads import by_key, indexed
from runledger.tables.updates import advance, claim, update, update_if, update_or_read

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

NOT_COUNTED = "NOT contains(open_job_ids, :job_id) AND NOT contains(done_job_ids, :job_id)"
NOT_COUNTED_AS_DONE = "NOT contains(done_job_ids, :job_id)"
COUNTED_AS_FAILED = "contains(failed_job_ids, :job_id)"
MARKED_INTERRUPTED = "contains(cut_short_job_ids, :job_id)"
OLDER_AND_UNREPORTED = "#created_at > :created_at AND attribute_not_exists(#updated_at)"
NOT_COUNTED_AS_FAILED = f"NOT {COUNTED_AS_FAILED}"

OPEN, DONE = "open", "done"
STARTED = {Status.IN_PROGRESS, Status.COMPLETED}
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
        response = self._client.get_item(TableName=self._name, Key=key, ConsistentRead=True)
        return from_attributes(response["Item"]) if "Item" in response else None

    @reaching("workflow_runs")
    def among(self, wanted: Iterable[tuple[int, int, int]]) -> list[dict[str, Any]]:
        """By installation, run and attempt. Missing runs are omitted."""
        keys = [(schema.run_key(*key), schema.ONLY) for key in wanted]
        return [from_attributes(item) for item in by_key(self._client, self._name, keys).values()]

    def open(self, installation_id: int) -> Iterator[dict[str, Any]]:
        """Oldest first. A run whose completion webhook was lost stays open until the reconciler asks GitHub."""
        partition = schema.status_key(installation_id, OPEN)
        with reaching("workflow_runs"):
            for page in indexed(self._client, self._name, schema.BY_STATE, partition):
                yield from (run for item in page if (run := from_attributes(item))["status"] != RunStatus.COMPLETED)

    def count(self, job: Job, *, first: bool, is_guess: bool = False) -> None:
        """`first` if the job is presumably not in the run's total. A guess doesn't correct earlier counts."""
        if not job.run_is_known:
            return
        run = self._count_ended(job, first, is_guess) if job.status is Status.COMPLETED else self._count_opened(job)
        if run.get("created_at", "") > job.created_at and not run.keys() & REPORTED_ONLY:
            self._set_earlier_creation(job)
        elif run and any(name not in run and getattr(job, name) is not None for name in RUN_NAMES):
            self.name(job)

    @reaching("workflow_runs")
    def name(self, job: Job) -> None:
        """Fills in what the first counted job lacked, such as the branch."""
        update(self._client, self._name, _key_of_run(job), fill=self._derived_from(job))

    @reaching("workflow_runs")
    def absorb(self, report: RunReport) -> "RunChange":
        """The newest report counts: a run may complete again. An older one, as in a replay, fills in what is absent."""
        key = key_of(report.installation_id, report.run_id, report.run_attempt)
        identity = {name: getattr(report, name) for name in _IDENTITY} | {"checked_at": report.reported_at}
        progress = {
            "conclusion": report.conclusion,
            "updated_at": report.updated_at,
            schema.BY_STATE.partition: _state(report.installation_id, report.status),
        }
        about: dict[str, Any] = {"add": _COUNTERS, "returning": "ALL_NEW"}
        latest = identity | progress | self._expiry(report.reported_at)
        changed = advance(self._client, self._name, key, report.status, dated="updated_at", put=latest, **about)
        if changed is None:
            changed = update(self._client, self._name, key, fill=identity | {"updated_at": report.updated_at}, **about)
        return _change(changed)

    @reaching("workflow_runs")
    def note_cut_short(self, job: Job) -> "RunChange":
        """The later of two writes, the end of the run or its last interrupted job, returns an item with both."""
        changed = update(
            self._client,
            self._name,
            _key_of_run(job),
            fill=self._derived_from(job) | self._expiry(job.last_updated_at),
            add={"cut_short_job_ids": {job.job_id}},
            returning="ALL_NEW",
        )
        return _change(changed)

    @reaching("workflow_runs")
    def note_not_cut_short(self, job: Job) -> None:
        """A later input showed that the job wasn't interrupted: it must not cause a re-run."""
        update_if(
            self._client,
            self._name,
            _key_of_run(job),
            discard={"cut_short_job_ids": {job.job_id}},
            condition=MARKED_INTERRUPTED,
            given={"job_id": job.job_id},
        )

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
        """Caches that GitHub has no such run, or nothing new about it."""
        update(self._client, self._name, key_of(installation_id, run_id, run_attempt), put={"checked_at": at})

    def _count_opened(self, job: Job) -> dict[str, Any]:
        _, run = self._count(
            job,
            fill=self._derived_from(job),
            add=_COUNTERS | {"open_job_ids": {job.job_id}, "total_jobs": 1},
            condition=NOT_COUNTED,
        )
        return run

    def _count_ended(self, job: Job, first: bool, is_guess: bool) -> dict[str, Any]:
        counted, run = self._count_done(job, total=1, condition=NOT_COUNTED) if first else (False, {})
        if not counted:
            counted, run = self._count_done(job, total=0, condition=NOT_COUNTED_AS_DONE)
        if not counted and not is_guess:
            self._correct(job)
        return run

    def _count_done(self, job: Job, *, total: int, condition: str) -> tuple[bool, dict[str, Any]]:
        return self._count(
            job,
            fill=self._derived_from(job),
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
        """The job was counted before, possibly with another conclusion."""
        ids = {"failed_job_ids": {job.job_id}}
        if job.failed:
            self._count(job, add=ids | {"failed_jobs": 1}, condition=NOT_COUNTED_AS_FAILED)
        else:
            self._count(job, add={"failed_jobs": -1}, discard=ids, condition=COUNTED_AS_FAILED)

    @reaching("workflow_runs")
    def _count(self, job: Job, **arguments: Any) -> tuple[bool, dict[str, Any]]:
        """Whether the condition held, and the run. If it failed, the job is already counted."""
        return update_or_read(
            self._client,
            self._name,
            _key_of_run(job),
            put=self._expiry(job.last_updated_at),
            given={"job_id": job.job_id},
            returning="ALL_NEW",
            **arguments,
        )

    @reaching("workflow_runs")
    def _set_earlier_creation(self, job: Job) -> None:
        """Without a report of its own, a run is as old as its oldest job, which may not be recorded first."""
        update_if(
            self._client,
            self._name,
            _key_of_run(job),
            put={"created_at": job.created_at},
            fill={name: getattr(job, name) for name in RUN_NAMES},
            names=("updated_at",),
            condition=OLDER_AND_UNREPORTED,
        )

    def _derived_from(self, job: Job) -> dict[str, Any]:
        """The attributes of a run without a report of its own.

        The stored status doesn't depend on which job is recorded first: see `with_derived_status`.
        """
        identity = {name: getattr(job, name) for name in _IDENTITY if name != "run_html_url"}
        state = {schema.BY_STATE.partition: _state(job.installation_id, RunStatus.QUEUED)}
        return identity | state | {"status": RunStatus.QUEUED}

    def _expiry(self, at: str) -> dict[str, int]:
        return {schema.EXPIRY: times.expiry(at, self._retention_days)}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunChange:
    """What follows from a change of a run."""

    may_be_rerun: bool


def _change(run: dict[str, Any]) -> RunChange:
    return RunChange(may_be_rerun=run.get("status") == RunStatus.COMPLETED and "cut_short_job_ids" in run)


def _state(installation_id: int, status: RunStatus) -> str:
    return schema.status_key(installation_id, DONE if status is RunStatus.COMPLETED else OPEN)


def with_derived_status(run: Mapping[str, Any], job_statuses: Iterable[str]) -> dict[str, Any]:
    """Derives the status of a run without a report of its own from its jobs.

    Done on reading: storing the status would cost a write for each step of a job.
    """
    if run.keys() & REPORTED_ONLY:
        return dict(run)
    total, completed = run.get("total_jobs", 0), run.get("completed_jobs", 0)
    if completed and completed == total:
        return {**run, "status": RunStatus.COMPLETED}
    started = completed or any(status in STARTED for status in job_statuses)
    return {**run, "status": RunStatus.IN_PROGRESS if started else run["status"]}


def _key_of_run(job: Job) -> dict[str, str]:
    assert job.run_id is not None
    assert job.run_attempt is not None
    return key_of(job.installation_id, job.run_id, job.run_attempt)


def key_of(installation_id: int, run_id: int, run_attempt: int) -> dict[str, str]:
    return {schema.PARTITION: schema.run_key(installation_id, run_id, run_attempt), schema.SORT: schema.ONLY}
