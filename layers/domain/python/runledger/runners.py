"""What happens to a runner reaches the job that it works for, whichever is heard of first.

The runners table is where both meet: whoever adds something to a runner settles it, and settling says to its job
whatever the runner has to say. Each saying is a receipt whose id and time follow from the runner alone, so that saying
it again changes nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass

from runledger.decision import Decision
from runledger.model import EventType, Facts, Receipt, Source
from runledger.tables.runners import Runner, RunnersTable

Record = Callable[[Receipt], Decision]


@dataclass(frozen=True, slots=True, kw_only=True)
class Runners:
    table: RunnersTable
    record: Record

    def launch(self, receipt: Receipt, *, kind: str, at: str) -> Decision:
        """A launcher has started a runner for a job; by now another one may have taken it."""
        return self._assign(self.table.launched, receipt, kind=kind, at=at)

    def take(self, receipt: Receipt, *, kind: str, at: str) -> Decision:
        """A job runs on it: GitHub says so by the runner's name, whomever it was launched for."""
        return self._assign(self.table.taken, receipt, kind=kind, at=at)

    def attached(self, runner_id: str, *, at: str) -> None:
        self._settle(self.table.noted(runner_id, at=at, attached_at=at))

    def rebalance_recommended(self, runner_id: str, *, at: str) -> None:
        self._settle(self.table.noted(runner_id, at=at, rebalance_recommended_at=at))

    def interrupted(self, runner_id: str, *, at: str) -> None:
        self._settle(self.table.noted(runner_id, at=at, interrupted_at=at))

    def terminated(self, runner_id: str, *, at: str, reason: str | None = None) -> None:
        self._settle(self.table.cleaned(runner_id, at=at, terminated_at=at, terminated_reason=reason))

    def cleaned(self, runner_id: str, *, at: str, reason: str) -> None:
        """As terminated, by a pass, which nobody repeats: no pass looks at it once it is cleaned, so its job first."""
        self._settle(self.table.noted(runner_id, at=at, terminated_at=at, terminated_reason=reason))
        self.table.cleaned(runner_id, at=at)

    def _assign(self, change: Callable[..., Runner], receipt: Receipt, *, kind: str, at: str) -> Decision:
        runner = change(
            receipt.facts.instance_id,
            installation_id=receipt.installation_id,
            job_id=receipt.job_id,
            at=at,
            kind=kind,
            repo_full_name=receipt.facts.repo_full_name,
            pool_name=receipt.facts.pool_name,
        )
        decision = self.record(receipt)
        self._settle(runner)
        return decision

    def _settle(self, runner: Runner) -> None:
        for receipt in sayings(runner):
            self.record(receipt)


def sayings(runner: Runner) -> list[Receipt]:
    """All that a runner has to say to its jobs; nothing while it has none."""
    if runner.installation_id is None or runner.job_id is None:
        return []
    facts = Facts(instance_id=runner.runner_id)
    said = [
        (EventType.RUNNER_ATTACHED, runner.attached_at, facts),
        (EventType.RUNNER_REBALANCE_RECOMMENDED, runner.rebalance_recommended_at, Facts()),
        (EventType.RUNNER_INTERRUPTED, runner.interrupted_at, Facts(interrupted_at=runner.interrupted_at)),
        (
            EventType.RUNNER_TERMINATED,
            runner.terminated_at,
            Facts(instance_id=runner.runner_id, terminated_at=runner.terminated_at),
        ),
    ]
    receipts = [_say(runner, runner.job_id, event_type, at, facts) for event_type, at, facts in said if at]
    if runner.intended_job_id not in (None, runner.job_id):
        assert runner.intended_job_id is not None
        at = runner.taken_at or runner.created_at
        receipts.append(_say(runner, runner.intended_job_id, EventType.RUNNER_TAKEN, at, Facts(), releases=True))
    return receipts


def _say(
    runner: Runner, job_id: int, event_type: EventType, at: str, facts: Facts, *, releases: bool = False
) -> Receipt:
    assert runner.installation_id is not None
    return Receipt(
        installation_id=runner.installation_id,
        job_id=job_id,
        delivery_id=f"{runner.runner_id} {event_type} {at}",
        received_at=at,
        event_type=event_type,
        source=Source.INTERNAL,
        releases=runner.runner_id if releases else None,
        facts=facts,
    )
