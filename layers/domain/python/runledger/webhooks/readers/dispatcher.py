"""Reads a delivery with the reader of its event.

The event's name is a header, and headers are not signed. So that an old body cannot be replayed as another event, the
body itself must belong to the event that the header names.
"""

from collections.abc import Callable

from runledger.model import payload
from runledger.model.errors import Malformed
from runledger.model.payload import Json
from runledger.model.reports import Input
from runledger.webhooks.delivery import Delivery
from runledger.webhooks.readers.deployments import (
    read_deployment,
    read_deployment_status,
    read_protection_rule,
    read_review,
)
from runledger.webhooks.readers.installations import read_installation, read_target
from runledger.webhooks.readers.jobs import read_job
from runledger.webhooks.readers.runs import read_run

READERS: dict[str, Callable[[Json, Delivery], tuple[Input, ...]]] = {
    "workflow_job": read_job,
    "workflow_run": read_run,
    "deployment": read_deployment,
    "deployment_status": read_deployment_status,
    "deployment_review": read_review,
    "deployment_protection_rule": read_protection_rule,
    "installation": read_installation,
    "installation_repositories": read_installation,
    "installation_target": read_target,
}
# Sections of a review that a run doesn't have.
REVIEW_ONLY = {"workflow_job_run", "workflow_job_runs", "reviewers", "since"}


def read(delivery: Delivery) -> tuple[Input, ...]:
    """The inputs in a delivery. Empty for an event or action that isn't recorded."""
    if delivery.event not in READERS:
        return ()
    message = payload.parse(delivery.body)
    event = event_of(message)
    if event not in (None, delivery.event):
        raise Malformed("X-GitHub-Event", f"is {delivery.event}, but the body describes a {event} event")
    return READERS[delivery.event](message, delivery)


def event_of(message: Json) -> str | None:
    """The event that the body belongs to. None for another event, or if its reader must report the error."""
    # The order matters: a job may name its deployment, a deployment its run, and a review names a run.
    if "workflow_job" in message:
        return "workflow_job"
    if "deployment_status" in message:
        return "deployment_status"
    if "deployment" in message:
        return "deployment_protection_rule" if message.get("action") == "requested" else "deployment"
    if "workflow_run" in message:
        return "deployment_review" if REVIEW_ONLY & message.keys() else "workflow_run"
    if "repositories_added" in message:
        return "installation_repositories"
    return "installation_target" if "target_type" in message else None
