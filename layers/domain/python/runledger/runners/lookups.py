"""Machines that no launcher reported: a runner's name contains the id, and EC2 or ECS describes the machine."""

from collections.abc import Callable, Sequence

from runledger.model.assignments import Assignment, MachineFacts
from runledger.model.dataclass import dataclass
from runledger.model.errors import UnavailableError
from runledger.model.follow_ups import RunnerLookup
from runledger.model.instance import FindMachine, Instance, RunnerKind
from runledger.model.ownership import Ruling
from runledger.model.places import UNKNOWN_PLACE, place_of
from runledger.model.prices import FindPrice, Price, PriceQuery
from runledger.runners.tracker import RunnerTracker

ArnsOf = Callable[[str], Sequence[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineLookups:
    tracker: RunnerTracker
    find_machine: FindMachine
    find_price: FindPrice
    arns_of: ArnsOf = lambda _: ()

    def look_up(self, lookup: RunnerLookup) -> Ruling:
        """The name is a claim. The job gets the machine only if it is a runner and has no other owner.

        Raises UnavailableError if AWS does not respond with the machine or with its price. If only the price is
        missing, the job already has its machine, and the next try adds the price.
        """
        kind = RunnerKind(lookup.kind)
        machine = self.find_machine(lookup.runner_id, kind)
        price = self.find_price(_price_query(machine, lookup.at)) if machine else Price()
        runner_id = machine.runner_id if machine else self._recorded_id(lookup.runner_id, kind)
        fact = Assignment(
            installation_id=lookup.installation_id,
            job_id=lookup.job_id,
            since=lookup.started_at or lookup.at,
            is_plan=False,
            repo_full_name=lookup.repo_full_name,
            machine=_described(machine, price) if machine else MachineFacts(),
        )
        ruling = self.tracker.claim(fact, runner_id, machine, kind=kind, at=lookup.at)
        if price.error and ruling in (Ruling.ASSIGN, Ruling.DESCRIBE):
            raise UnavailableError(f"the price of runner {runner_id}: {price.error}")
        return ruling

    def _recorded_id(self, runner_id: str, kind: RunnerKind) -> str:
        """ECS forgets a task an hour after its end.

        Its events, which contain the ARN, may have been recorded before that.
        """
        if kind is RunnerKind.EC2 or place_of(runner_id) != UNKNOWN_PLACE:
            return runner_id
        return next((arn for arn in self.arns_of(runner_id) if self.tracker.table.get(arn)), runner_id)


def _described(machine: Instance, price: Price) -> MachineFacts:
    return MachineFacts(
        instance_type=machine.instance_type,
        instance_lifecycle=machine.lifecycle,
        fleet_id=machine.fleet_id,
        pool_name=machine.pool_name,
        price_per_hour=price.per_hour,
        on_demand_price_per_hour=price.on_demand_per_hour,
        launched_at=machine.launched_at,
    )


def _price_query(machine: Instance, at: str) -> PriceQuery:
    return PriceQuery(
        instance_type=machine.instance_type,
        instance_lifecycle=machine.lifecycle,
        availability_zone=machine.availability_zone,
        at=at,
    )
