"""A pass over everything: its parts one after the other, within its bounds, with one summary at the end."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from runledger.model.passes import PassKind
from runledger.platform.clock import SystemClock
from runledger.queries.forgotten_approvals import ForgottenApproval
from runledger.reconciliation.bounds import Bounds
from runledger.reconciliation.deliveries import DeliveryCheck
from runledger.reconciliation.installations import InstallationCheck
from runledger.reconciliation.jobs import JobCheck
from runledger.reconciliation.runners import RunnerCheck, note_outcome
from runledger.reconciliation.summary import Report
from runledger.reconciliation.tally import Count, Tally
from runledger.reconciliation.uninstalled import UninstalledCheck
from runledger.tables.installations import InstallationsRegistry
from runledger.tables.passes import PassesTable

Part = Callable[[], bool]
# For the summary, after the last call to GitHub: that may hang until then.
SECONDS_TO_FINISH = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconciler:
    """Without a GitHub App there is no log of deliveries, and nothing is healed or cleaned: then it reports."""

    installations: InstallationsRegistry
    jobs: JobCheck
    runners: RunnerCheck
    deliveries: DeliveryCheck | None
    confirmation: InstallationCheck | None
    uninstalled: UninstalledCheck | None
    find_forgotten: Callable[[Sequence[int], Bounds], Iterable[ForgottenApproval]]
    passes: PassesTable
    share_left: Callable[[int], float]
    share_for_others: float
    finish_within: Callable[[float], None]
    warn: Callable[[str, Exception], None]
    time: SystemClock

    def run(
        self, kind: PassKind, *, pass_id: str, seconds_left: Callable[[], float], requested_by: str | None
    ) -> Report:
        """Begins with the part after the one in which the last pass ran out of time, so that each has its turn."""
        now, tally = self.time.text(), Tally(warn=self.warn)
        self.passes.note(pass_id, at=now, **{"pass": kind}, status="running", started_at=now, requested_by=requested_by)
        self.finish_within(seconds_left() - SECONDS_TO_FINISH)
        bounds = Bounds(seconds_left=seconds_left, share_left=self.share_left, share_for_others=self.share_for_others)
        left: tuple[str, ...] = ()
        with tally.alone("the order of the parts"):
            left = self._work(self._parts(kind, pass_id, now, bounds, tally), kind, tally)
        return self._finish(kind, pass_id, now, tally, left)

    def clean(
        self,
        runner_id: str,
        *,
        pass_id: str,
        seconds_left: Callable[[], float],
        requested_by: str,
        installations: frozenset[int] | None = None,
    ) -> Report:
        """One orphan, because a person wants it now and not after its time of grace.

        `installations` are those that the person is limited to, None for all.
        """
        now, tally = self.time.text(), Tally(warn=self.warn)
        about = {"pass": PassKind.CLEANUP, "status": "running", "started_at": now, "requested_by": requested_by}
        self.passes.note(pass_id, at=now, **about)
        self.finish_within(seconds_left() - SECONDS_TO_FINISH)
        self.runners.cleanup.begin()
        with tally.alone(f"runner {runner_id}"):
            outcome = self.runners.cleanup.clean(
                runner_id, owner=f"{requested_by} {pass_id}", installations=installations
            )
            note_outcome(f"{runner_id}:", outcome, tally)
        return self._finish(PassKind.CLEANUP, pass_id, now, tally, ())

    def _parts(self, kind: PassKind, pass_id: str, now: str, bounds: Bounds, tally: Tally) -> Mapping[str, Part]:
        full = kind is PassKind.FULL
        parts: dict[str, Part] = {}
        if confirmation := self.confirmation:
            parts["installations"] = lambda: confirmation.check(now=now, bounds=bounds, tally=tally)
        parts |= {
            "jobs": lambda: self.jobs.check(self._active(), all_runs=full, now=now, bounds=bounds, tally=tally),
            "runners": lambda: self.runners.check(
                owner=f"pass {pass_id}", unmapped_too=full, now=now, bounds=bounds, tally=tally
            ),
        }
        if full and (uninstalled := self.uninstalled):
            parts["uninstalled"] = lambda: uninstalled.check(now=now, bounds=bounds, tally=tally)
        if full:
            parts["approvals"] = lambda: self._approvals(self._active(), bounds, tally)
            if deliveries := self.deliveries:
                parts["deliveries"] = lambda: deliveries.check(now=now, bounds=bounds, tally=tally)
        return parts

    def _active(self) -> list[int]:
        """Read when a part begins, so that it includes what was confirmed earlier in the pass."""
        return self.installations.active(unconfirmed_too=self.confirmation is not None)

    def _work(self, parts: Mapping[str, Part], kind: PassKind, tally: Tally) -> tuple[str, ...]:
        """The parts that there was no time for."""
        names = list(parts)
        first = self.passes.begin_with(kind)
        start = names.index(first) if first in names else 0
        order = names[start:] + names[:start]
        for number, name in enumerate(order):
            done = True
            with tally.alone(f"the {name}"):
                done = parts[name]()
            if not done:
                # The next pass begins with the part after this one: a part that always fills a pass starves no other.
                self.passes.leave_off(kind, order[(number + 1) % len(order)])
                return tuple(order[number:])
        if first:
            self.passes.leave_off(kind, None)
        return ()

    def _approvals(self, active: Sequence[int], bounds: Bounds, tally: Tally) -> bool:
        for each in self.find_forgotten(active, bounds):
            where = f"{each.environment} for run {each.run_id} of {each.repo_full_name}"
            jobs = f"{len(each.job_ids)} jobs wait" if len(each.job_ids) > 1 else "a job waits"
            tally.find(Count.FORGOTTEN, f"approval of {where}: {jobs} since {each.waiting_since}")
        return True

    def _finish(self, kind: PassKind, pass_id: str, now: str, tally: Tally, left: tuple[str, ...]) -> Report:
        report = Report(
            id=pass_id, kind=kind, started_at=now, finished_at=self.time.text(), tally=tally, parts_left=left
        )
        self.passes.note(
            pass_id,
            at=now,
            status="finished",
            outcome=report.outcome,
            finished_at=report.finished_at,
            duration_in_ms=report.duration_in_ms,
            summary=dict(report.summary),
            findings=report.findings,
            text=report.text(),
        )
        return report
