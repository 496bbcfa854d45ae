"""Machines that no launcher reported: a runner's name leads to one, and EC2 or ECS describes it."""

from collections.abc import Callable

from runledger.instances import Instance
from runledger.model import EventType, Facts, Receipt, Source
from runledger.ownership import Ruling
from runledger.reports import FindPrice, Kind, Price, RunnerLookup, Wanted
from runledger.runners import Runners

Describe = Callable[[str, Kind], Instance | None]


def look_up(lookup: RunnerLookup, runners: Runners, describe: Describe, find_price: FindPrice) -> Ruling:
    """The name is a claim. The job learns about the machine only if it is a runner, and not another owner's."""
    kind = Kind(lookup.kind)
    machine = describe(lookup.runner_id, kind)
    runner_id = machine.runner_id if machine else lookup.runner_id
    known = runners.table.get(runner_id)
    stolen = known is not None and known.intended_job_id not in (None, lookup.job_id)
    receipt = _attached(lookup, runner_id, machine, find_price, stolen=stolen)
    return runners.claim(receipt, runner_id, machine, kind=kind, at=lookup.at)


def _attached(
    lookup: RunnerLookup, runner_id: str, machine: Instance | None, find_price: FindPrice, *, stolen: bool
) -> Receipt:
    # A job that took another job's runner was scheduled at that moment, not when the machine was launched.
    launched_at = machine.launched_at if machine and not stolen else None
    price = find_price(_wanted(machine, lookup.at)) if machine else Price()
    facts = Facts(
        repo_full_name=lookup.repo_full_name,
        instance_id=runner_id,
        scheduled_at=launched_at or lookup.at,
        instance_type=machine.instance_type if machine else None,
        instance_lifecycle=machine.lifecycle if machine else None,
        fleet_id=machine.fleet_id if machine else None,
        pool_name=machine.pool_name if machine else None,
        price_per_hour=price.per_hour,
        on_demand_price_per_hour=price.on_demand_per_hour,
    )
    return Receipt(
        installation_id=lookup.installation_id,
        job_id=lookup.job_id,
        delivery_id=f"{runner_id} found for {lookup.job_id}",
        received_at=lookup.at,
        event_type=EventType.RUNNER_ATTACHED,
        source=Source.INTERNAL,
        facts=facts,
    )


def _wanted(machine: Instance, at: str) -> Wanted:
    return Wanted(
        instance_type=machine.instance_type,
        instance_lifecycle=machine.lifecycle,
        availability_zone=machine.availability_zone,
        at=at,
    )
