"""workflow_runs: a cache of the run, and exact counters of its jobs.

A counter and a set of job ids change in one write, on condition that the set doesn't contain the job: a repeated write
fails the condition, which counts as success, and no transaction is needed. A job is in the set of open or of completed
jobs, so the item grows by one id per job; only failed jobs are in a third set.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from runledger.model import times
from runledger.model.inputs import Status
from runledger.model.job import Job
from runledger.model.keys import RunKey
from runledger.model.reports import RUN_NAMES, RunReport, RunStatus
from runledger.model.runs import RunChange, is_unreported
from runledger.tables import schema
from runledger.tables.attributes import from_attributes
from runledger.tables.pages import Partition
from runledger.tables.table import Table

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

NOT_COUNTED = "NOT contains(open_job_ids, :job_id) AND NOT contains(done_job_ids, :job_id)"
NOT_COUNTED_AS_DONE = "NOT contains(done_job_ids, :job_id)"
COUNTED_AS_FAILED = "contains(failed_job_ids, :job_id)"
MARKED_INTERRUPTED = "contains(cut_short_job_ids, :job_id)"
OLDER_AND_UNREPORTED = "#created_at > :created_at AND attribute_not_exists(#updated_at)"
NOT_COUNTED_AS_FAILED = f"NOT {COUNTED_AS_FAILED}"

OPEN, DONE = "open", "done"

_COUNTERS = {"total_jobs": 0, "completed_jobs": 0, "failed_jobs": 0}
_IDENTITY = (
    *("installation_id", "run_id", "run_attempt", "repo_full_name", "workflow_id", "workflow_name"),
    *("head_sha", "head_branch", "run_html_url", "created_at"),
)
_TRIGGER = ("run_number", "event", "actor", "default_branch", "from_fork", "head_committed_at")


class RunsTable:
    def __init__(self, client: "DynamoDBClient", name: str, *, retention_days: int) -> None:
        self._table = Table(client, name, label="workflow_runs")
        self._retention_days = retention_days

    def get(self, run: RunKey) -> dict[str, Any] | None:
        return self._table.read(key_of(run))

    def among(self, wanted: Iterable[RunKey]) -> list[dict[str, Any]]:
        """Missing runs are omitted."""
        keys = [(schema.run_key(run), schema.ONLY) for run in wanted]
        return [from_attributes(item) for item in self._table.by_key(keys).values()]

    def open(self, installation_id: int) -> Iterator[dict[str, Any]]:
        """Oldest first. A run whose completion webhook was lost stays open until the reconciler checks it on GitHub.

        The index may lag, so the item's own state decides.
        """
        partition = Partition(index=schema.BY_STATE, value=schema.status_key(installation_id, OPEN))
        for page in self._table.indexed(partition):
            runs = map(from_attributes, page)
            yield from (run for run in runs if run.get(schema.BY_STATE.partition) == partition.value)

    def count(self, job: Job, *, first: bool, is_guess: bool = False) -> None:
        """`first` means that the job is probably not in the run's total yet. A guess doesn't correct earlier counts."""
        if not job.run_is_known:
            return
        run = self._count_ended(job, first, is_guess) if job.status is Status.COMPLETED else self._count_opened(job)
        if run.get("created_at", "") > job.created_at and is_unreported(run):
            self._set_earlier_creation(job)
        elif run and any(name not in run and getattr(job, name) is not None for name in RUN_NAMES):
            self.name(job)

    def name(self, job: Job) -> None:
        """Fills in values that the first counted job lacked, such as the branch."""
        self._table.update(_key_of_run(job), fill=self._derived_from(job))

    def refresh(self, report: RunReport) -> None:
        """Stores a report that was read from GitHub for a user. A run that was open stays open, even if it has
        completed: its webhook or the next full pass closes it, and checks whether its failed jobs must be re-run.

        A completed run that the ledger didn't have is closed at once: reading an old run must never cause a re-run.
        """
        self.absorb(report, closes=False)

    def absorb(self, report: RunReport, *, closes: bool = True) -> RunChange:
        """The newest report counts: a run may complete again. An older one, such as a replay, fills in absent values.

        Unless the report `closes` a completed run, an open run stays open, and the next full pass checks it.
        """
        key = key_of(report.run_key)
        identity = {name: getattr(report, name) for name in (*_IDENTITY, *_TRIGGER)} | {
            "checked_at": report.reported_at
        }
        progress = {"conclusion": report.conclusion, "updated_at": report.updated_at}
        latest = identity | progress | self._expiry(report.reported_at)
        state = _state(report.installation_id, report.status)
        if closes:
            latest[schema.BY_STATE.partition] = state
        absent = {} if closes else {schema.BY_STATE.partition: state}
        about: dict[str, Any] = {"add": _COUNTERS, "returning": "ALL_NEW"}
        changed = self._table.advance(key, report.status, dated="updated_at", put=latest, fill=absent, **about)
        if changed is None:
            changed = self._table.update(key, fill=identity | {"updated_at": report.updated_at}, **about)
        return RunChange.of(changed, reported_at=report.reported_at)

    def note_interrupted(self, job: Job) -> RunChange:
        """The run's end and its interrupted jobs are separate writes.

        Whichever comes later returns an item with both.
        """
        changed = self._table.update(
            _key_of_run(job),
            fill=self._derived_from(job) | self._expiry(job.last_updated_at),
            add={"cut_short_job_ids": {job.job_id}},
            returning="ALL_NEW",
        )
        return RunChange.of(changed)

    def note_not_interrupted(self, job: Job) -> None:
        """A later input showed that the job wasn't interrupted: it must not cause a re-run."""
        self._table.update_if(
            _key_of_run(job),
            discard={"cut_short_job_ids": {job.job_id}},
            condition=MARKED_INTERRUPTED,
            given={"job_id": job.job_id},
        )

    def claim(self, run: RunKey, *, at: str, until: str) -> bool:
        return self._table.claim(
            key_of(run),
            at=at,
            until=until,
            expiry=times.expiry(at, self._retention_days),
        )

    def note_checked(self, run: RunKey, *, at: str, repo_full_name: str | None = None) -> None:
        """Caches that GitHub has nothing new about the run.

        With a repository, caches that it has no such run, and ends the claim: a reader may name another repository.
        """
        checked = {"checked_repo": repo_full_name} if repo_full_name else {}
        self._table.update(
            key_of(run), put={"checked_at": at, **checked}, remove=["claimed_until"] if repo_full_name else []
        )

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

    def _count(self, job: Job, **arguments: Any) -> tuple[bool, dict[str, Any]]:
        """Whether the condition held, and the run. If it failed, the job is already counted."""
        return self._table.update_or_read(
            _key_of_run(job),
            put=self._expiry(job.last_updated_at),
            given={"job_id": job.job_id},
            returning="ALL_NEW",
            **arguments,
        )

    def _set_earlier_creation(self, job: Job) -> None:
        """A run without its own report is as old as its oldest job, which may not be recorded first."""
        self._table.update_if(
            _key_of_run(job),
            put={"created_at": job.created_at},
            fill={name: getattr(job, name) for name in RUN_NAMES},
            names=("updated_at",),
            condition=OLDER_AND_UNREPORTED,
        )

    def _derived_from(self, job: Job) -> dict[str, Any]:
        """The attributes of a run without its own report.

        The stored status doesn't depend on which job is recorded first: see `model/runs.py`.
        """
        identity = {name: getattr(job, name) for name in _IDENTITY if name != "run_html_url"}
        state = {schema.BY_STATE.partition: _state(job.installation_id, RunStatus.QUEUED)}
        return identity | state | {"status": RunStatus.QUEUED}

    def _expiry(self, at: str) -> dict[str, int]:
        return {schema.EXPIRY: times.expiry(at, self._retention_days)}


def _state(installation_id: int, status: RunStatus) -> str:
    return schema.status_key(installation_id, DONE if status is RunStatus.COMPLETED else OPEN)


def _key_of_run(job: Job) -> dict[str, str]:
    assert job.run_key is not None
    return key_of(job.run_key)


def key_of(run: RunKey) -> dict[str, str]:
    return {schema.PARTITION: schema.run_key(run), schema.SORT: schema.ONLY}
