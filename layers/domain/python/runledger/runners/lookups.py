"""Machines that no launcher reported: a runner's name leads to one, and EC2 or ECS describes it."""

from collections.abc import Callable

from runledger.model.assignments import Assignment, MachineFacts
from runledger.model.errors import UnavailableError
from runledger.model.ownership import Ruling
from runledger.model.reports import FindPrice, Price, RunnerKind, RunnerLookup, Wanted
from runledger.runners.instances import Instance
from runledger.runners.tracker import Runners

Describe = Callable[[str, RunnerKind], Instance | None]


def look_up(lookup: RunnerLookup, runners: Runners, describe: Describe, find_price: FindPrice) -> Ruling:
    """The name is a claim. The job learns about the machine only if it is a runner, and not another owner's.

    UnavailableError if AWS could not be asked about the machine, or about its price. In the second case the job has its
    machine by then, and the next try adds the price.
    """
    kind = RunnerKind(lookup.kind)
    machine = describe(lookup.runner_id, kind)
    price = find_price(_wanted(machine, lookup.at)) if machine else Price()
    runner_id = machine.runner_id if machine else lookup.runner_id
    fact = Assignment(
        installation_id=lookup.installation_id,
        job_id=lookup.job_id,
        since=lookup.started_at or lookup.at,
        is_plan=False,
        repo_full_name=lookup.repo_full_name,
        machine=_described(machine, price) if machine else MachineFacts(),
    )
    ruling = runners.claim(fact, runner_id, machine, kind=kind, at=lookup.at)
    if price.trouble and ruling in (Ruling.ASSIGN, Ruling.DESCRIBE):
        raise UnavailableError(f"the price of runner {runner_id}: {price.trouble}")
    return ruling


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


def _wanted(machine: Instance, at: str) -> Wanted:
    return Wanted(
        instance_type=machine.instance_type,
        instance_lifecycle=machine.lifecycle,
        availability_zone=machine.availability_zone,
        at=at,
    )
