"""Compares open jobs and runs with GitHub, with one call per run, and corrects jobs that are further on GitHub."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from runledger.model.dataclass import dataclass
from runledger.model.inputs import Receipt, Status
from runledger.model.instance import Instance
from runledger.model.job import Job
from runledger.model.passes import RESERVED
from runledger.model.reports import NO_INSTALLATION, REDELIVERY_DAYS, RunReport
from runledger.model.stuck import OPEN, GitHubJob, StuckThresholds, Verdict, is_settled, judge, stuck_since
from runledger.model.times import SECONDS_PER_DAY, earlier
from runledger.reconciliation import healing
from runledger.reconciliation.comparison import Comparison, GitHubRecords
from runledger.reconciliation.open_runs import (
    OpenRun,
    closed_jobs,
    gather,
    in_another_order,
    in_turn,
    key_of_item,
    keys_of,
)
from runledger.reconciliation.orphans import lives
from runledger.reconciliation.passes import Pass
from runledger.reconciliation.runner_requests import RunnerRequests
from runledger.reconciliation.tally import STUCK, Count, Tally
from runledger.recording.decision import Decision
from runledger.tables.absences import Absence, Absences, key_of_job, key_of_run
from runledger.tables.jobs import JobsTable
from runledger.tables.runs import RunsTable

# How long a run or job must be missing on GitHub before it is closed. At least two passes check.
ABSENT_FOR_SECONDS = 600
CLOSED_COMPARED_AT_MOST = 50
# During this time, a webhook that contains the repository may be redelivered.
WITHOUT_REPOSITORY_SECONDS = REDELIVERY_DAYS * SECONDS_PER_DAY
DEFERRED = f"deferred to the next pass: {RESERVED}"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobCheck:
    """`confirmed_in_scope` returns the machines in scope that EC2 or ECS has reported before: only those can be gone.

    `notify` gets stuck jobs, each with the time since when it is stuck.
    """

    jobs: JobsTable
    runs: RunsTable
    absences: Absences
    record: Callable[[Receipt], Decision]
    report: Callable[[RunReport], object]
    requests: RunnerRequests
    describe: Callable[[Iterable[str]], Mapping[str, Instance]]
    confirmed_in_scope: Callable[[Iterable[str]], Iterable[str]]
    github: GitHubRecords | None
    thresholds: StuckThresholds
    notify: Callable[[Sequence[tuple[Job, str]], str], object] = lambda _stuck, _now: None

    def check(self, installation_ids: Sequence[int], current: Pass) -> bool:
        """False if time ran out. Without a GitHub App, stuck jobs are counted and not changed.

        A quick pass asks GitHub about runs with stuck jobs. A full pass asks about every open run, and about completed
        runs with open jobs, whose own completion webhook was lost.
        """
        opened = [job for each in installation_ids for job in self._opened(each, current)]
        dated = ((job, stuck_since(job, now=current.now, thresholds=self.thresholds)) for job in opened)
        stuck = [(job, since) for job, since in dated if since]
        suspects = [job for job, _ in stuck]
        for job in suspects:
            current.tally.add(STUCK[job.status])
        with current.tally.isolated("the feed"):
            # A job that waits for an approval may be a forgotten approval, which the feed has as another event.
            self.notify([(job, since) for job, since in stuck if job.status is not Status.WAITING], current.now)
        if self.github is None:
            return True
        wanted = opened if current.is_full else suspects
        if current.is_full:
            runs = [item for each in installation_ids for item in self.runs.open(each)]
            runs += self.runs.among(keys_of(opened) - {key_of_item(item) for item in runs})
        else:
            runs = self.runs.among(keys_of(suspects))
        gathered, absent = gather(wanted, runs), self.absences.all()
        comparison = Comparison(
            github=self.github,
            read={(job.installation_id, job.job_id): job for job in opened},
            alive=self._alive(suspects, current.tally),
            absent=absent,
            current=current,
        )
        without_run = [job for job in wanted if job.run_id is None and job.repo_full_name is not None]
        closed: list[Absence] = []
        if current.is_full:
            self._close_without_repository(opened, {job_id for run in gathered for job_id in run.suspects}, comparison)
            closed = closed_jobs(absent.values())[:CLOSED_COMPARED_AT_MOST]
        return self._ask_all(in_turn(gathered, in_another_order(without_run, current), closed), comparison)

    def _ask_all(self, wanted: Iterable[OpenRun | Job | Absence], comparison: Comparison) -> bool:
        """Runs, jobs whose run is unknown, and closed jobs that were missing on GitHub. False if time ran out."""
        for each in wanted:
            if comparison.current.out_of_time():
                return False
            if each.installation_id == NO_INSTALLATION:
                continue  # reported by a hook without an App, so there is no token to call GitHub with
            about = str(each) if isinstance(each, OpenRun) else f"job {each.job_id} of {each.repo_full_name}"
            if not comparison.current.has_budget(each.installation_id):
                comparison.tally.report(Count.POSTPONED, f"{about}: {DEFERRED}")
                continue
            with comparison.tally.isolated(about):
                match each:
                    case OpenRun():
                        self._ask_about_run(each, comparison)
                    case Job():
                        self._ask_about_job(each, comparison)
                    case Absence():
                        self._compare_closed(each, comparison)
        return True

    def _opened(self, installation_id: int, current: Pass) -> Iterator[Job]:
        """Open jobs that are old enough to be stuck. A full pass compares waiting jobs as early as queued ones: an
        approval may take days, but its webhook may be lost at any time."""
        for status in OPEN:
            seconds = self.thresholds.least_seconds(Status.QUEUED if current.is_full else status)
            before = earlier(current.now, seconds=seconds)
            yield from self.jobs.in_status(installation_id, status, created_before=before)

    def _alive(self, jobs: Iterable[Job], tally: Tally) -> Mapping[str, bool]:
        """Whether each machine is alive. For a machine that isn't in the result, that is unknown."""
        ids = {job.instance_id for job in jobs if job.instance_id}
        with tally.isolated("the machines of stuck jobs"):
            found = self.describe(ids)
            gone = self.confirmed_in_scope(ids - found.keys())
            return {each: lives(machine) for each, machine in found.items()} | dict.fromkeys(gone, False)
        return {}

    def _ask_about_run(self, run: OpenRun, comparison: Comparison) -> None:
        comparison.tally.add(Count.RUNS_ASKED)
        try:
            listed = comparison.github.jobs(run.key, run.repo_full_name)
            if listed is None and not self._is_absent(
                Absence.of_run(run.key, run.repo_full_name, at=comparison.now), comparison
            ):
                self.runs.note_checked(run.key, at=comparison.now)
                return
            if not self._compare(run, listed, comparison):
                # The run stays open until all of its jobs are recorded: a completed run is not checked again.
                self.runs.note_checked(run.key, at=comparison.now)
                return
        except Exception:
            # A run that fails counts as checked: otherwise it would come first in every pass and starve the others.
            self.runs.note_checked(run.key, at=comparison.now)
            raise
        self._record_run(run, listed, comparison)

    def _ask_about_job(self, job: Job, comparison: Comparison) -> None:
        """The run is optional in launcher events, so it may be unknown."""
        found = comparison.github.job(job.installation_id, job.repo_full_name or "", job.job_id)
        if found is not None:
            self._forget({key_of_job(job.installation_id, job.job_id)}, comparison)
        self._resolve(job, found, comparison)

    def _compare(self, run: OpenRun, listed: list[GitHubJob] | None, comparison: Comparison) -> bool:
        """False if the check of one of its jobs failed or was deferred."""
        by_id = {each.job_id: each for each in listed or ()}
        keys = {job_id: (run.installation_id, job_id) for job_id in {*by_id, *run.suspects}}
        others = self.jobs.among(key for key in keys.values() if key not in comparison.read)
        if listed is not None:
            self._forget({key_of_run(run.key), *(key_of_job(run.installation_id, each) for each in by_id)}, comparison)
        compared = 0
        for job_id, key in sorted(keys.items(), key=lambda each: (each[0] not in by_id, each)):
            job = comparison.read.get(key) or others.get(key)
            if job_id not in by_id and listed is not None and not comparison.current.may_ask(run.installation_id):
                # A launcher can report any number of jobs under one run, and each takes a call.
                comparison.tally.report(Count.POSTPONED, f"{run}: jobs from {job_id} on {DEFERRED}")
                return False
            with comparison.tally.isolated(f"job {job_id} of {run.repo_full_name}"):
                found = by_id.get(job_id)
                if found is None and listed is not None:
                    # The job may belong to an attempt other than the recorded one.
                    found = comparison.github.job(run.installation_id, run.repo_full_name, job_id)
                if job is not None:
                    self._resolve(job, found, comparison)
                elif found is not None and is_settled(found, now=comparison.now):
                    self._discover(run, found, comparison)
                compared += 1
        return compared == len(keys)

    def _resolve(self, job: Job, found: GitHubJob | None, comparison: Comparison) -> None:
        now, tally = comparison.now, comparison.tally
        alive = comparison.alive.get(job.instance_id) if job.instance_id else None
        about = f"job {job.job_id} of {job.repo_full_name}"
        match judge(job, found, runner_lives=alive, now=now, thresholds=self.thresholds):
            case Verdict.HEAL:
                assert found is not None
                self.record(healing.corrected_job(job.installation_id, found, version=job.version, now=now))
                actual = healing.describe(found)
                tally.report(Count.HEALED, f"{about}: {job.status} in the ledger, {actual} on GitHub; corrected")
            case Verdict.CLOSE:
                self._close(job, about, comparison)
            case Verdict.REQUEST_RUNNER:
                self._request(job, about, comparison)
            case Verdict.LONG_RUNNING:
                runner = job.instance_id or job.runner_name or "an unknown machine"
                finding = f"runner {runner}: long-running, {about} in progress since {job.started_at}; not changed"
                tally.report(Count.LONG_RUNNING, finding)
            case Verdict.LEAVE:
                pass

    def _close(self, job: Job, about: str, comparison: Comparison) -> None:
        absence = Absence.of_job(job, at=comparison.now)
        if not self._is_absent(absence, comparison):
            return
        self.record(healing.closed_job(job, now=comparison.now))
        self.absences.close(absence, at=comparison.now)
        finding = f"{about}: {job.status} in the ledger, {healing.UNKNOWN}; closed as cancelled"
        comparison.tally.report(Count.CLOSED, finding)

    def _close_without_repository(self, opened: Iterable[Job], asked: set[int], comparison: Comparison) -> None:
        """Closes jobs that only a launcher has reported, without a repository: they can't be looked up on GitHub."""
        before = earlier(comparison.now, seconds=WITHOUT_REPOSITORY_SECONDS)
        for job in opened:
            if job.repo_full_name is None and job.job_id not in asked and job.created_at <= before:
                about = f"job {job.job_id} of installation {job.installation_id}"
                with comparison.tally.isolated(about):
                    self.record(healing.closed_job(job, now=comparison.now, reason=healing.NO_REPOSITORY))
                    finding = f"{about}: {job.status} in the ledger, {healing.NO_REPOSITORY}; closed as cancelled"
                    comparison.tally.report(Count.CLOSED, finding)

    def _request(self, job: Job, about: str, comparison: Comparison) -> None:
        """Reads the job again: it may have a runner by now, or another pass may have requested one."""
        stored = self.jobs.get(job.installation_id, job.job_id, consistent=True)
        if stored is None or stored.version != job.version:
            return
        decision = self.requests.request(job, at=comparison.now)
        if decision is not None:
            why = f"its runner {job.instance_id} is gone" if job.instance_id else "it has no runner"
            number = decision.job.runner_requests
            finding = f"{about}: {job.status}, and {why}; runner requested (request {number})"
            comparison.tally.report(Count.RUNNERS_REQUESTED, finding)

    def _discover(self, run: OpenRun, found: GitHubJob, comparison: Comparison) -> None:
        """Adds a job whose webhooks are all missing: GitHub may never have sent them."""
        self.record(healing.corrected_job(run.installation_id, found, version=0, now=comparison.now))
        about = f"job {found.job_id} of {run.repo_full_name}"
        comparison.tally.report(
            Count.DISCOVERED, f"{about}: not in the ledger, {healing.describe(found)} on GitHub; added"
        )

    def _record_run(self, run: OpenRun, listed: list[GitHubJob] | None, comparison: Comparison) -> None:
        if listed and not all(each.status is Status.COMPLETED for each in listed):
            self.runs.note_checked(run.key, at=comparison.now)
            return
        report = None
        if listed is not None:
            report = comparison.github.run(run.key, run.repo_full_name)
        self.report(report or healing.closed_run(run, now=comparison.now))

    def _is_absent(self, absence: Absence, comparison: Comparison) -> bool:
        """Whether the run or job has been missing on GitHub for long enough. One 404 proves nothing."""
        first = comparison.absent.get(absence.key) or self.absences.note(absence)
        return first.first_at <= earlier(comparison.now, seconds=ABSENT_FOR_SECONDS)

    def _forget(self, keys: set[str], comparison: Comparison) -> None:
        """The runs or jobs are on GitHub again."""
        self.absences.forget_open(
            sorted(key for key in keys & comparison.absent.keys() if not comparison.absent[key].closed_at)
        )

    def _compare_closed(self, absence: Absence, comparison: Comparison) -> None:
        """Compares a job that was closed because it was missing on GitHub: access may have been restored."""
        assert absence.job_id is not None
        # Noted before the call, so that a job whose check fails doesn't come first in every pass.
        self.absences.note_compared(absence.key, at=comparison.now)
        found = comparison.github.job(absence.installation_id, absence.repo_full_name, absence.job_id)
        job = self.jobs.get(absence.installation_id, absence.job_id, consistent=True)
        if found is None or job is None or found.status is not Status.COMPLETED:
            return
        self.record(healing.corrected_job(job.installation_id, found, version=job.version, now=comparison.now))
        finding = f"closed in the ledger, {healing.describe(found)} on GitHub; corrected"
        comparison.tally.report(Count.HEALED, f"job {job.job_id} of {job.repo_full_name}: {finding}")
        self.absences.forget(absence.key)
