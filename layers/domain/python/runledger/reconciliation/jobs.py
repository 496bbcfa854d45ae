"""Jobs and runs that are open: GitHub is asked once for each run, and every job that it is further with is healed."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from runledger.decision import Decision
from runledger.deliveries import NO_INSTALLATION
from runledger.instances import Instance
from runledger.model import Job, Receipt, Status
from runledger.reconciliation import healing
from runledger.reconciliation.bounds import Bounds
from runledger.reconciliation.open_runs import OpenRun, gather, keys_of
from runledger.reconciliation.orphans import lives
from runledger.reconciliation.requests import RunnerRequests
from runledger.reconciliation.stuck import OPEN, Patience, Told, Verdict, is_settled, judge, stuck_since
from runledger.reconciliation.tally import Count, Tally
from runledger.reports import RunReport
from runledger.tables.jobs import JobsTable
from runledger.tables.runs import RunsTable
from runledger.times import earlier

STUCK = {status: Count(f"stuck_{status}") for status in OPEN}


class GitHub(Protocol):
    """As runledger_github has it; it lives in a layer that this one must not know. None where it knows of nothing."""

    def jobs(self, installation_id: int, repo_full_name: str, run_id: int, run_attempt: int) -> list[Told] | None: ...
    def job(self, installation_id: int, repo_full_name: str, job_id: int) -> Told | None: ...
    def run(self, installation_id: int, repo_full_name: str, run_id: int, run_attempt: int) -> RunReport | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class JobCheck:
    jobs: JobsTable
    runs: RunsTable
    record: Callable[[Receipt], Decision]
    report: Callable[[RunReport], object]
    requests: RunnerRequests
    describe: Callable[[Iterable[str]], Mapping[str, Instance]]
    github: GitHub | None
    patience: Patience

    def check(self, installation_ids: Sequence[int], *, all_runs: bool, now: str, bounds: Bounds, tally: Tally) -> bool:
        """False if time ran out. Without a GitHub App nothing is sure: stuck jobs are counted and left alone."""
        opened = [job for each in installation_ids for job in self._opened(each, now)]
        suspects = [job for job in opened if stuck_since(job, now=now, patience=self.patience)]
        for job in suspects:
            tally.add(STUCK[job.status])
        if self.github is None:
            return True
        instances = self.describe({job.instance_id for job in suspects if job.instance_id})
        read = {(job.installation_id, job.job_id): job for job in opened}
        if all_runs:
            runs = [item for each in installation_ids for item in self.runs.open(each)]
        else:
            runs = self.runs.among(keys_of(suspects))
        for run in gather(suspects, runs):
            if bounds.out_of_time():
                return False
            if run.installation_id == NO_INSTALLATION:
                continue  # its webhooks come from no App, so none may ask
            if not bounds.may_ask(run.installation_id):
                tally.find(Count.POSTPONED, f"{run}: postponed, the rest of GitHub's budget is for others")
                continue
            with tally.alone(str(run)):
                self._ask(run, self.github, read, instances, now=now, tally=tally)
        return True

    def _opened(self, installation_id: int, now: str) -> Iterator[Job]:
        """Open jobs that are old enough to be stuck."""
        for status in OPEN:
            before = earlier(now, seconds=self.patience.least_seconds(status))
            yield from self.jobs.in_status(installation_id, status, created_before=before)

    def _ask(
        self,
        run: OpenRun,
        github: GitHub,
        read: Mapping[tuple[int, int], Job],
        instances: Mapping[str, Instance],
        *,
        now: str,
        tally: Tally,
    ) -> None:
        tally.add(Count.RUNS_ASKED)
        told = github.jobs(run.installation_id, run.repo_full_name, run.run_id, run.run_attempt)
        by_id = {each.job_id: each for each in told or ()}
        keys = {job_id: (run.installation_id, job_id) for job_id in {*by_id, *run.suspects}}
        others = self.jobs.among(key for key in keys.values() if key not in read)
        for job_id, key in sorted(keys.items()):
            job = read.get(key) or others.get(key)
            with tally.alone(f"job {job_id} of {run.repo_full_name}"):
                answer = by_id.get(job_id)
                if answer is None and told is not None:
                    # Not in the list of the attempt that we believe it to be of: only now it is asked by itself.
                    answer = github.job(run.installation_id, run.repo_full_name, job_id)
                if job is not None:
                    self._settle(job, answer, instances, now=now, tally=tally)
                elif answer is not None and is_settled(answer, now=now):
                    self._discover(run, answer, now=now, tally=tally)
        self._note(run, github, told, now=now)

    def _settle(
        self, job: Job, told: Told | None, instances: Mapping[str, Instance], *, now: str, tally: Tally
    ) -> None:
        alive = lives(instances.get(job.instance_id)) if job.instance_id else None
        about = f"job {job.job_id} of {job.repo_full_name}"
        match judge(job, told, runner_lives=alive, now=now, patience=self.patience):
            case Verdict.HEAL:
                assert told is not None
                self.record(healing.healed(job.installation_id, told, now=now))
                tally.find(Count.HEALED, f"{about}: {job.status} here, {healing.said(told)} on GitHub; healed")
            case Verdict.CLOSE:
                self.record(healing.closed(job, now=now))
                tally.find(Count.CLOSED, f"{about}: {job.status} here, {healing.UNKNOWN}; closed as cancelled")
            case Verdict.REQUEST_RUNNER:
                decision = self.requests.request(job, at=now)
                why = f"its runner {job.instance_id} is gone" if job.instance_id else "it has no runner"
                number = decision.job.runner_requests
                tally.find(Count.RUNNERS_REQUESTED, f"{about}: {job.status}, and {why}; runner requested ({number})")
            case Verdict.LONG_RUNNING:
                tally.find(Count.LONG_RUNNING, f"{about}: in progress since {job.started_at}; left alone")
            case Verdict.LEAVE:
                pass

    def _discover(self, run: OpenRun, told: Told, *, now: str, tally: Tally) -> None:
        """Some webhooks are never sent."""
        self.record(healing.healed(run.installation_id, told, now=now))
        tally.find(Count.DISCOVERED, f"job {told.job_id} of {run.repo_full_name}: never heard of; taken in")

    def _note(self, run: OpenRun, github: GitHub, told: list[Told] | None, *, now: str) -> None:
        if told and not all(each.status is Status.COMPLETED for each in told):
            self.runs.note_checked(*run.key, at=now)
            return
        report = None
        if told is not None:
            report = github.run(run.installation_id, run.repo_full_name, run.run_id, run.run_attempt)
        self.report(report or healing.unknown_run(run, now=now))
