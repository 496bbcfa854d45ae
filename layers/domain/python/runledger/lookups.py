"""Runners that no launcher told us of: the runner's name leads to the machine, and EC2 or ECS tells the rest."""

from collections.abc import Callable

from runledger.instances import Instance
from runledger.model import EventType, Facts, Receipt, Source
from runledger.reports import FindPrice, Kind, Price, RunnerLookup, Wanted
from runledger.runners import Runners

Describe = Callable[[str, Kind], Instance | None]


def look_up(errand: RunnerLookup, runners: Runners, describe: Describe, find_price: FindPrice) -> None:
    """The job has the runner, whatever it was launched for, and whether or not the machine is still there."""
    kind = Kind(errand.kind)
    found = describe(errand.runner_id, kind)
    runner_id = found.runner_id if found else errand.runner_id
    known = runners.table.get(runner_id)
    stolen = known is not None and known.intended_job_id not in (None, errand.job_id)
    runners.take(_attached(errand, runner_id, found, find_price, stolen=stolen), kind=kind, at=errand.at)


def _attached(
    errand: RunnerLookup, runner_id: str, found: Instance | None, find_price: FindPrice, *, stolen: bool
) -> Receipt:
    # Whoever takes another's runner was scheduled on it at that moment, and not when it was launched for the other.
    launched_at = found.launched_at if found and not stolen else None
    price = find_price(_wanted(found, errand.at)) if found else Price()
    facts = Facts(
        repo_full_name=errand.repo_full_name,
        instance_id=runner_id,
        scheduled_at=launched_at or errand.at,
        instance_type=found.instance_type if found else None,
        instance_lifecycle=found.lifecycle if found else None,
        fleet_id=found.fleet_id if found else None,
        pool_name=found.pool_name if found else None,
        price_per_hour=price.per_hour,
        on_demand_price_per_hour=price.on_demand_per_hour,
    )
    return Receipt(
        installation_id=errand.installation_id,
        job_id=errand.job_id,
        delivery_id=f"{runner_id} found for {errand.job_id}",
        received_at=errand.at,
        event_type=EventType.RUNNER_ATTACHED,
        source=Source.INTERNAL,
        facts=facts,
    )


def _wanted(found: Instance, at: str) -> Wanted:
    return Wanted(
        instance_type=found.instance_type,
        instance_lifecycle=found.lifecycle,
        availability_zone=found.availability_zone,
        at=at,
    )
