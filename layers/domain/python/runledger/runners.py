"""What happens to a machine reaches the job that it works for, whichever is reported first.

The runners table is where both meet: every change to a runner ends with settling it, which records on its job whatever
has happened to the machine. Each of these receipts has an id and a time that follow from the runner alone, so recording
it again changes nothing.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from runledger.decision import Decision
from runledger.instances import Instance
from runledger.machines import Runner
from runledger.model import EventType, Facts, Receipt, Source
from runledger.ownership import Claim, Proof, Ruling, named_owner, rule
from runledger.tables.runners import RunnersTable

Record = Callable[[Receipt], Decision]
REPORTED = "reported by the launcher"


@dataclass(frozen=True, slots=True, kw_only=True)
class Runners:
    """`runner_tags` are the tags of machines that are runners; without any, those of well-known launchers count."""

    table: RunnersTable
    record: Record
    runner_tags: Mapping[str, str] = field(default_factory=dict)

    def launch(self, receipt: Receipt, *, kind: str, at: str, proof: Proof) -> Decision:
        """A launcher has started a machine for a job; by now the machine may work for another job.

        NotYours if it is proven to belong to another installation.
        """
        facts = receipt.facts
        assert facts.instance_id is not None
        runner = self.table.launched(
            facts.instance_id,
            installation_id=receipt.installation_id,
            job_id=receipt.job_id,
            at=at,
            proof=proof,
            kind=kind,
            repo_full_name=facts.repo_full_name,
            pool_name=facts.pool_name,
        )
        decision = self.record(receipt)
        self._settle(runner)
        return decision

    def claim(self, receipt: Receipt, runner_id: str, machine: Instance | None, *, kind: str, at: str) -> Ruling:
        """GitHub reports that a job runs there. Whether that is recorded depends on whose machine it is."""
        facts = receipt.facts
        claim = Claim(
            installation_id=receipt.installation_id, repo_full_name=facts.repo_full_name, job_id=receipt.job_id
        )
        tags = machine.tags if machine else None
        while True:
            seen = self.table.get(runner_id)
            ruling = rule(claim, seen, tags, runner_tags=self.runner_tags)
            if ruling is Ruling.DESCRIBE:
                self.record(receipt)
            elif ruling is Ruling.CONTEST:
                assert seen is not None
                if not self.table.contest(runner_id, seen=seen, by=claim.installation_id, at=at):
                    continue
            elif ruling is Ruling.ASSIGN:
                runner = self.table.assign(
                    runner_id,
                    seen=seen,
                    installation_id=claim.installation_id,
                    job_id=claim.job_id,
                    at=at,
                    repo_full_name=claim.repo_full_name,
                    owner_name=named_owner(tags) if tags else None,
                    confirmed_at=at if machine else None,
                    kind=kind,
                    pool_name=facts.pool_name,
                )
                if runner is None:
                    continue
                self.record(receipt)
                self._settle(runner)
            return ruling

    def attached(self, runner_id: str, *, at: str) -> None:
        self._settle(self.table.noted(runner_id, at=at, attached_at=at, confirmed_at=at))

    def reported_attached(self, runner_id: str, *, installation_id: int, at: str) -> None:
        """By a launcher. NotYours if the machine is proven to belong to another installation."""
        self._settle(self.table.reported(runner_id, installation_id=installation_id, at=at, attached_at=at))

    def reported_terminated(
        self, runner_id: str, machine: Instance | None, *, installation_id: int, at: str, reason: str | None
    ) -> None:
        """By a launcher. Only EC2 and ECS can tell that a machine is gone: until then nothing follows from it."""
        runner = self.table.reported(runner_id, installation_id=installation_id, at=at, termination_reported_at=at)
        gone = machine.is_gone if machine else runner.confirmed_at is not None
        if gone:
            self.terminated(runner_id, at=at, reason=reason)
        else:
            self._settle(runner)

    def rebalance_recommended(self, runner_id: str, *, at: str) -> None:
        self._settle(self.table.noted(runner_id, at=at, rebalance_recommended_at=at, confirmed_at=at))

    def interrupted(self, runner_id: str, *, at: str) -> None:
        self._settle(self.table.noted(runner_id, at=at, interrupted_at=at, confirmed_at=at))

    def terminated(self, runner_id: str, *, at: str, reason: str | None = None) -> None:
        self._settle(self.table.cleaned(runner_id, at=at, terminated_at=at, terminated_reason=reason, confirmed_at=at))

    def cleaned(self, runner_id: str, *, at: str, reason: str) -> None:
        """As terminated, by a pass, which nobody repeats: no pass looks at it once it is cleaned, so its job first."""
        self._settle(self.table.noted(runner_id, at=at, terminated_at=at, terminated_reason=reason))
        self.table.cleaned(runner_id, at=at)

    def _settle(self, runner: Runner) -> None:
        for receipt in sayings(runner):
            self.record(receipt)


def sayings(runner: Runner) -> list[Receipt]:
    """What a runner's jobs are to be told. Nothing while it has none, or while two owners contest it."""
    if runner.installation_id is None or runner.job_id is None or runner.contested_at:
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
    if (reported_at := runner.termination_reported_at) and not runner.terminated_at:
        receipts.append(_say(runner, runner.job_id, EventType.RUNNER_TERMINATED, reported_at, Facts(), action=REPORTED))
    if runner.intended_job_id not in (None, runner.job_id):
        assert runner.intended_job_id is not None
        at = runner.taken_at or runner.created_at
        receipts.append(_say(runner, runner.intended_job_id, EventType.RUNNER_TAKEN, at, Facts(), releases=True))
    return receipts


def _say(
    runner: Runner,
    job_id: int,
    event_type: EventType,
    at: str,
    facts: Facts,
    *,
    action: str | None = None,
    releases: bool = False,
) -> Receipt:
    assert runner.installation_id is not None
    return Receipt(
        installation_id=runner.installation_id,
        job_id=job_id,
        delivery_id=" ".join(filter(None, (runner.runner_id, event_type, action, at))),
        received_at=at,
        event_type=event_type,
        source=Source.INTERNAL,
        action=action,
        releases=runner.runner_id if releases else None,
        facts=facts,
    )
