"""Jobs and runs that are open: GitHub is asked once for each run, and every job that it is further with is healed."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from runledger.model.inputs import Receipt, Status
from runledger.model.job import Job
from runledger.model.reports import NO_INSTALLATION, RunReport
from runledger.model.stuck import OPEN, GitHubJob, Patience, Verdict, is_settled, judge, stuck_since
from runledger.model.times import SECONDS_PER_DAY, earlier
from runledger.reconciliation import healing
from runledger.reconciliation.bounds import Bounds
from runledger.reconciliation.open_runs import OpenRun, gather, keys_of
from runledger.reconciliation.orphans import lives
from runledger.reconciliation.requests import RunnerRequests
from runledger.reconciliation.tally import Count, Tally
from runledger.recording.decision import Decision
from runledger.runners.instances import Instance
from runledger.tables.absences import Absence, Absences, job_key, run_key
from runledger.tables.jobs import JobsTable
from runledger.tables.runs import RunsTable

# How long GitHub must not know a run or a job before it is closed: at least two passes ask.
ABSENT_FOR_SECONDS = 600
CLOSED_COMPARED_AT_MOST = 50
# A webhook that names the repository may be redelivered for three days.
HOMELESS_FOR_SECONDS = 3 * SECONDS_PER_DAY
STUCK = {status: Count(f"stuck_{status}") for status in OPEN}


class GitHub(Protocol):
    """As runledger_github has it; it lives in a layer that this one must not know. None where it knows of nothing."""

    def jobs(
        self, installation_id: int, repo_full_name: str, run_id: int, run_attempt: int
    ) -> list[GitHubJob] | None: ...
    def job(self, installation_id: int, repo_full_name: str, job_id: int) -> GitHubJob | None: ...
    def run(self, installation_id: int, repo_full_name: str, run_id: int, run_attempt: int) -> RunReport | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class JobCheck:
    """`confirmed` gives those of some machines that EC2 or ECS has reported before: only they can be gone."""

    jobs: JobsTable
    runs: RunsTable
    absences: Absences
    record: Callable[[Receipt], Decision]
    report: Callable[[RunReport], object]
    requests: RunnerRequests
    describe: Callable[[Iterable[str]], Mapping[str, Instance]]
    confirmed: Callable[[Iterable[str]], Iterable[str]]
    github: GitHub | None
    patience: Patience

    def check(self, installation_ids: Sequence[int], *, all_runs: bool, now: str, bounds: Bounds, tally: Tally) -> bool:
        """False if time ran out. Without a GitHub App nothing is sure: stuck jobs are counted and left alone."""
        opened = [job for each in installation_ids for job in self._opened(each, now, all_runs=all_runs)]
        suspects = [job for job in opened if stuck_since(job, now=now, patience=self.patience)]
        for job in suspects:
            tally.add(STUCK[job.status])
        if self.github is None:
            return True
        # A run that is over may have jobs whose own completion webhook was lost: a full pass asks about these, too.
        wanted = opened if all_runs else suspects
        if all_runs:
            runs = [item for each in installation_ids for item in self.runs.open(each)]
            runs += self.runs.among(keys_of(opened) - {run_key_of(item) for item in runs})
        else:
            runs = self.runs.among(keys_of(suspects))
        gathered = gather(wanted, runs)
        sweep = Sweep(
            github=self.github,
            read={(job.installation_id, job.job_id): job for job in opened},
            alive=self._alive(suspects, tally),
            absent=self.absences.all(),
            now=now,
            tally=tally,
        )
        alone = [job for job in wanted if job.run_id is None and job.repo_full_name is not None]
        if not self._ask_all(gathered, alone, sweep, bounds):
            return False
        if not all_runs:
            return True
        self._close_homeless(opened, {job_id for run in gathered for job_id in run.suspects}, sweep)
        return self._compare_closed(sweep, bounds)

    def _ask_all(self, runs: Iterable[OpenRun], alone: Iterable[Job], sweep: "Sweep", bounds: Bounds) -> bool:
        """`alone` are jobs whose run is unknown. False if time ran out."""
        every: list[OpenRun | Job] = [*runs, *alone]
        for each in every:
            if bounds.out_of_time():
                return False
            if each.installation_id == NO_INSTALLATION:
                continue  # its webhooks come from no App, so none may ask
            about = str(each) if isinstance(each, OpenRun) else f"job {each.job_id} of {each.repo_full_name}"
            if not bounds.may_ask(each.installation_id):
                sweep.tally.find(Count.POSTPONED, f"{about}: postponed, the rest of GitHub's budget is for others")
                continue
            with sweep.tally.alone(about):
                self._ask(each, sweep) if isinstance(each, OpenRun) else self._ask_alone(each, sweep)
        return True

    def _opened(self, installation_id: int, now: str, *, all_runs: bool) -> Iterator[Job]:
        """Open jobs that are old enough to be stuck. Approvals take days, but a webhook may be lost at any time."""
        for status in OPEN:
            seconds = self.patience.least_seconds(Status.QUEUED if all_runs else status)
            before = earlier(now, seconds=seconds)
            yield from self.jobs.in_status(installation_id, status, created_before=before)

    def _alive(self, jobs: Iterable[Job], tally: Tally) -> Mapping[str, bool]:
        """Whether their machines live. A machine that is missing here is neither alive nor gone, as far as we know."""
        ids = {job.instance_id for job in jobs if job.instance_id}
        with tally.alone("the machines of stuck jobs"):
            found = self.describe(ids)
            gone = self.confirmed(ids - found.keys())
            return {each: lives(machine) for each, machine in found.items()} | dict.fromkeys(gone, False)
        return {}

    def _ask(self, run: OpenRun, sweep: "Sweep") -> None:
        sweep.tally.add(Count.RUNS_ASKED)
        try:
            told = sweep.github.jobs(run.installation_id, run.repo_full_name, run.run_id, run.run_attempt)
            if told is None and not self._is_absent(run_key(*run.key), run.installation_id, run.repo_full_name, sweep):
                self.runs.note_checked(*run.key, at=sweep.now)
                return
            if not self._compare(run, told, sweep):
                # A run that is over is not asked about again: it stays open until all of its jobs are recorded.
                self.runs.note_checked(*run.key, at=sweep.now)
                return
        except Exception:
            # A run that fails has had its turn, like any other: it must not keep the others from theirs.
            self.runs.note_checked(*run.key, at=sweep.now)
            raise
        self._note(run, told, sweep)

    def _ask_alone(self, job: Job, sweep: "Sweep") -> None:
        """A launcher need not tell a job's run."""
        answer = sweep.github.job(job.installation_id, job.repo_full_name or "", job.job_id)
        if answer is not None:
            self._forget({job_key(job.installation_id, job.job_id)}, sweep)
        self._settle(job, answer, sweep)

    def _compare(self, run: OpenRun, told: list[GitHubJob] | None, sweep: "Sweep") -> bool:
        """False if one of its jobs failed."""
        by_id = {each.job_id: each for each in told or ()}
        keys = {job_id: (run.installation_id, job_id) for job_id in {*by_id, *run.suspects}}
        others = self.jobs.among(key for key in keys.values() if key not in sweep.read)
        if told is not None:
            self._forget({run_key(*run.key), *(job_key(run.installation_id, each) for each in by_id)}, sweep)
        compared = 0
        for job_id, key in sorted(keys.items()):
            job = sweep.read.get(key) or others.get(key)
            with sweep.tally.alone(f"job {job_id} of {run.repo_full_name}"):
                answer = by_id.get(job_id)
                if answer is None and told is not None:
                    # Not in the list of the attempt that we believe it to be of: only now it is asked by itself.
                    answer = sweep.github.job(run.installation_id, run.repo_full_name, job_id)
                if job is not None:
                    self._settle(job, answer, sweep)
                elif answer is not None and is_settled(answer, now=sweep.now):
                    self._discover(run, answer, sweep)
                compared += 1
        return compared == len(keys)

    def _settle(self, job: Job, told: GitHubJob | None, sweep: "Sweep") -> None:
        now, tally = sweep.now, sweep.tally
        alive = sweep.alive.get(job.instance_id) if job.instance_id else None
        about = f"job {job.job_id} of {job.repo_full_name}"
        match judge(job, told, runner_lives=alive, now=now, patience=self.patience):
            case Verdict.HEAL:
                assert told is not None
                self.record(healing.healed(job.installation_id, told, version=job.version, now=now))
                tally.find(Count.HEALED, f"{about}: {job.status} here, {healing.said(told)} on GitHub; healed")
            case Verdict.CLOSE:
                self._close(job, about, sweep)
            case Verdict.REQUEST_RUNNER:
                self._request(job, about, sweep)
            case Verdict.LONG_RUNNING:
                tally.find(Count.LONG_RUNNING, f"{about}: in progress since {job.started_at}; left alone")
            case Verdict.LEAVE:
                pass

    def _close(self, job: Job, about: str, sweep: "Sweep") -> None:
        key, repo = job_key(job.installation_id, job.job_id), job.repo_full_name or ""
        if not self._is_absent(key, job.installation_id, repo, sweep, job_id=job.job_id):
            return
        self.record(healing.closed(job, now=sweep.now))
        self.absences.close(key, at=sweep.now)
        sweep.tally.find(Count.CLOSED, f"{about}: {job.status} here, {healing.UNKNOWN}; closed as cancelled")

    def _close_homeless(self, opened: Iterable[Job], asked: set[int], sweep: "Sweep") -> None:
        """Jobs of which only a launcher has reported, without a repository: GitHub can't be asked about them."""
        before = earlier(sweep.now, seconds=HOMELESS_FOR_SECONDS)
        for job in opened:
            if job.repo_full_name is None and job.job_id not in asked and job.created_at <= before:
                about = f"job {job.job_id} of installation {job.installation_id}"
                with sweep.tally.alone(about):
                    self.record(healing.closed(job, now=sweep.now, reason=healing.NO_REPOSITORY))
                    sweep.tally.find(
                        Count.CLOSED, f"{about}: {job.status} here, {healing.NO_REPOSITORY}; closed as cancelled"
                    )

    def _request(self, job: Job, about: str, sweep: "Sweep") -> None:
        """The job was read when the pass began: by now it may have a runner, or another pass may have asked for one."""
        current = self.jobs.get(job.installation_id, job.job_id, consistent=True)
        if current is None or current.version != job.version:
            return
        decision = self.requests.request(job, at=sweep.now)
        if decision is not None:
            why = f"its runner {job.instance_id} is gone" if job.instance_id else "it has no runner"
            number = decision.job.runner_requests
            found = f"{about}: {job.status}, and {why}; runner requested ({number})"
            sweep.tally.find(Count.RUNNERS_REQUESTED, found)

    def _discover(self, run: OpenRun, told: GitHubJob, sweep: "Sweep") -> None:
        """Some webhooks are never sent."""
        self.record(healing.healed(run.installation_id, told, version=0, now=sweep.now))
        sweep.tally.find(Count.DISCOVERED, f"job {told.job_id} of {run.repo_full_name}: never heard of; taken in")

    def _note(self, run: OpenRun, told: list[GitHubJob] | None, sweep: "Sweep") -> None:
        if told and not all(each.status is Status.COMPLETED for each in told):
            self.runs.note_checked(*run.key, at=sweep.now)
            return
        report = None
        if told is not None:
            report = sweep.github.run(run.installation_id, run.repo_full_name, run.run_id, run.run_attempt)
        self.report(report or healing.unknown_run(run, now=sweep.now))

    def _is_absent(
        self, key: str, installation_id: int, repo_full_name: str, sweep: "Sweep", *, job_id: int | None = None
    ) -> bool:
        """GitHub has not known it for a while, and not just this once."""
        about = {"installation_id": installation_id, "repo_full_name": repo_full_name, "job_id": job_id}
        absence = sweep.absent.get(key) or self.absences.note(key, at=sweep.now, **about)  # type: ignore[arg-type]
        return absence.first_at <= earlier(sweep.now, seconds=ABSENT_FOR_SECONDS)

    def _forget(self, keys: set[str], sweep: "Sweep") -> None:
        """GitHub knows them again."""
        self.absences.forget(sorted(key for key in keys & sweep.absent.keys() if not sweep.absent[key].closed_at))

    def _compare_closed(self, sweep: "Sweep", bounds: Bounds) -> bool:
        """Jobs that were closed because GitHub did not know them: access may have come back since."""
        closed = sorted((each for each in sweep.absent.values() if each.closed_at), key=lambda each: each.first_at)
        for absence in closed[:CLOSED_COMPARED_AT_MOST]:
            if bounds.out_of_time():
                return False
            if absence.job_id is None or not bounds.may_ask(absence.installation_id):
                continue
            with sweep.tally.alone(f"job {absence.job_id} of {absence.repo_full_name}"):
                told = sweep.github.job(absence.installation_id, absence.repo_full_name, absence.job_id)
                job = self.jobs.get(absence.installation_id, absence.job_id, consistent=True)
                if told is None or job is None or told.status is not Status.COMPLETED:
                    continue
                self.record(healing.healed(job.installation_id, told, version=job.version, now=sweep.now))
                about = f"job {job.job_id} of {job.repo_full_name}"
                sweep.tally.find(Count.HEALED, f"{about}: closed here, {healing.said(told)} on GitHub; healed")
                self.absences.forget([absence.key])
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """One pass over the runs: what was read at its start, and where its findings go."""

    github: GitHub
    read: Mapping[tuple[int, int], Job]
    alive: Mapping[str, bool]
    absent: Mapping[str, Absence]
    now: str
    tally: Tally


def run_key_of(item: Mapping[str, Any]) -> tuple[int, int, int]:
    return (item["installation_id"], item["run_id"], item.get("run_attempt", 1))
