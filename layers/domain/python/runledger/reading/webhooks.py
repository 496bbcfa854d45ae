"""Which reader reads which event."""

from collections.abc import Callable

from runledger import payload
from runledger.deliveries import Delivery
from runledger.model import Receipt
from runledger.payload import Json
from runledger.reading.deployments import (
    read_deployment,
    read_deployment_status,
    read_protection_rule,
    read_review,
)
from runledger.reading.installations import read_installation
from runledger.reading.jobs import read_job
from runledger.reading.runs import read_run
from runledger.reports import Report

READERS: dict[str, Callable[[Json, Delivery], tuple[Receipt | Report, ...]]] = {
    "workflow_job": read_job,
    "workflow_run": read_run,
    "deployment": read_deployment,
    "deployment_status": read_deployment_status,
    "deployment_review": read_review,
    "deployment_protection_rule": read_protection_rule,
    "installation": read_installation,
    "installation_repositories": read_installation,
}


def read(delivery: Delivery) -> tuple[Receipt | Report, ...]:
    """All that a delivery says; nothing for an event or action that we do not use."""
    if delivery.event not in READERS:
        return ()
    return READERS[delivery.event](payload.parse(delivery.body), delivery)
