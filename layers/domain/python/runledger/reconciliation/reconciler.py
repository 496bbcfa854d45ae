"""Runs a pass: its parts one after the other, within its limits, with one report at the end."""

from collections.abc import Callable, Mapping

from runledger.model.dataclass import dataclass
from runledger.model.passes import PassKind, PassStatus
from runledger.platform.clock import SystemClock
from runledger.reconciliation.approvals import ApprovalCheck
from runledger.reconciliation.bounds import Bounds
from runledger.reconciliation.cleanup import Cleanup
from runledger.reconciliation.deliveries import DeliveryCheck
from runledger.reconciliation.installations import InstallationCheck
from runledger.reconciliation.jobs import JobCheck
from runledger.reconciliation.passes import Pass
from runledger.reconciliation.runners import RunnerCheck, report_outcome
from runledger.reconciliation.summary import PassReport
from runledger.reconciliation.tally import Tally
from runledger.reconciliation.uninstalled import UninstalledCheck
from runledger.tables.installations import InstallationsRegistry
from runledger.tables.passes import PassesTable, new_pass_id

# Returns False if time ran out.
Part = Callable[[Pass], bool]
# Reserved for storing the report. The last call to GitHub may hang until then.
SECONDS_TO_FINISH = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconciler:
    """Without a GitHub App, there is no delivery log, no job is corrected and no machine is terminated.

    Records of runners without a running machine are still cleaned.
    """

    installations: InstallationsRegistry
    jobs: JobCheck
    runners: RunnerCheck
    cleanup: Cleanup
    approvals: ApprovalCheck
    deliveries: DeliveryCheck | None
    reported_installations: InstallationCheck | None
    uninstalled: UninstalledCheck | None
    passes: PassesTable
    share_left: Callable[[int], float]
    share_for_others: float
    finish_within: Callable[[float], None]
    warn: Callable[[str, Exception], None]
    time: SystemClock

    def run(
        self, kind: PassKind, *, pass_id: str | None, seconds_left: Callable[[], float], requested_by: str | None
    ) -> PassReport:
        """Starts with the part after the one in which the last pass ran out of time or rate limit, so that each part
        makes progress.
        """
        bounds = Bounds(seconds_left=seconds_left, share_left=self.share_left, share_for_others=self.share_for_others)
        current = self._start(kind, pass_id, bounds, requested_by)
        return self._finish(current, self._run_parts(self._parts(kind), current))

    def clean(
        self,
        runner_id: str,
        *,
        pass_id: str | None,
        seconds_left: Callable[[], float],
        requested_by: str,
        installations: frozenset[int] | None = None,
    ) -> PassReport:
        """Cleans up one orphan on request, without waiting for its grace period.

        `installations` limits the caller; None means all. The whole rate limit may be used.
        """
        bounds = Bounds(seconds_left=seconds_left, share_left=self.share_left, share_for_others=0)
        current = self._start(PassKind.CLEANUP, pass_id, bounds, requested_by)
        self.cleanup.begin()
        result = None
        with current.tally.isolated(f"runner {runner_id}") as attempt:
            outcome = self.cleanup.clean(runner_id, current, installations=installations)
            report_outcome(runner_id, outcome, current.tally)
            result = outcome.result
        return self._finish(current, (), result=result or f"Not cleaned: {attempt.problem}")

    def _start(self, kind: PassKind, pass_id: str | None, bounds: Bounds, requested_by: str | None) -> Pass:
        """A scheduled pass has no id yet. A requested one is already stored under its id."""
        now = self.time.text()
        pass_id = pass_id or new_pass_id(now)
        about = {"pass": kind, "status": PassStatus.RUNNING, "started_at": now, "requested_by": requested_by}
        self.passes.note(pass_id, at=now, **about)
        self.finish_within(bounds.seconds_left() - SECONDS_TO_FINISH)
        tally = Tally(warn=self.warn)
        return Pass(id=pass_id, kind=kind, now=now, bounds=bounds, tally=tally, requested_by=requested_by)

    def _parts(self, kind: PassKind) -> Mapping[str, Part]:
        parts: dict[str, Part] = {}
        if self.reported_installations:
            parts["installations"] = self.reported_installations.check
        parts["jobs"] = lambda current: self.jobs.check(self._active(), current)
        parts["runners"] = self.runners.check
        if kind is PassKind.FULL:
            if self.uninstalled:
                parts["uninstalled"] = self.uninstalled.check
            parts["approvals"] = lambda current: self.approvals.check(self._active(), current)
            if self.deliveries:
                parts["deliveries"] = self.deliveries.check
        return parts

    def _active(self) -> list[int]:
        """Read when a part starts, so that it reflects what was confirmed earlier in the pass."""
        return self.installations.active(unconfirmed_too=self.reported_installations is not None)

    def _run_parts(self, parts: Mapping[str, Part], current: Pass) -> tuple[str, ...]:
        """Returns the parts that did not finish. If the stored order can't be read, the usual order is used."""
        names, first = list(parts), None
        with current.tally.isolated("the order of the parts"):
            first = self.passes.first_part(current.kind)
        start = names.index(first) if first in names else 0
        order = names[start:] + names[:start]
        next_first, refused = None, False
        for number, name in enumerate(order):
            finished = True
            current.use.begin()
            with current.tally.isolated(f"the {name}"):
                finished = parts[name](current)
            # If a part uses up the time or the rate limit, the next pass starts with the part after it, so that no part
            # starves the others.
            following = order[(number + 1) % len(order)]
            if not finished:
                self._begin_next_with(next_first or following, current)
                return tuple(order[number:])
            if next_first is None and current.use.is_used_up:
                next_first = following
            refused |= bool(current.use.refused)
        if refused and next_first is None:
            next_first = first  # no rate limit was left for any part: the next pass starts with the same part
        if first or next_first:
            self._begin_next_with(next_first, current)
        return ()

    def _begin_next_with(self, part: str | None, current: Pass) -> None:
        with current.tally.isolated("the order of the parts"):
            self.passes.set_first_part(current.kind, part)

    def _finish(self, current: Pass, unfinished: tuple[str, ...], *, result: str | None = None) -> PassReport:
        report = PassReport(
            id=current.id,
            kind=current.kind,
            started_at=current.now,
            finished_at=self.time.text(),
            tally=current.tally,
            parts_left=unfinished,
            result=result,
        )
        self.passes.note(
            current.id,
            at=current.now,
            status=PassStatus.FINISHED,
            outcome=report.outcome,
            result=report.result,
            finished_at=report.finished_at,
            duration_in_ms=report.duration_in_ms,
            summary=dict(report.summary),
            findings=report.findings,
            text=report.text(),
        )
        return report
