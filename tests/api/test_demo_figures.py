"""The demo's webhooks, played into a ledger: figures of the API against the demo's own payloads."""

import json
import math
from collections.abc import Iterator
from dataclasses import fields
from datetime import UTC, datetime, timedelta

import pytest

from local.demo.generator import PAYMENTS, PLATFORM, STOREFRONT, WEBSITE
from local.demo.machines import Machines
from local.demo.payloads.entities import Delivery, Job
from local.demo.scenarios.catalogue import all_steps
from local.demo.steps import deliveries
from tests.api.client import Client
from tests.functions.conftest import World
from tests.support.webhooks import http_event

NOW = datetime(2025, 1, 15, 10, tzinfo=UTC)
MACHINES = Machines(**{each.name: f"i-{number:017x}" for number, each in enumerate(fields(Machines))})
SENT = [each for each in deliveries(all_steps(NOW, machines=MACHINES)) if not (each.lost or each.failed)]
REPOSITORIES = (STOREFRONT, PAYMENTS, PLATFORM, WEBSITE)
INSTALLATIONS = sorted({each.installation_id for each in REPOSITORIES})
LONGEST_WAIT_FOR_A_RUNNER, WAIT_FOR_THE_APPROVAL = timedelta(minutes=5), timedelta(minutes=20)


@pytest.fixture
def demo(world: World, api: Client) -> Client:
    """The API, after the intake function has received every delivery that arrives."""
    for each in SENT:
        body = json.dumps(each.payload).encode()
        at = round(each.sent_at.timestamp() * 1000)
        received = world.invoke(
            "webhook_intake", http_event(body, guid=each.delivery_id, event=each.event, at_epoch_ms=at)
        )
        assert received["statusCode"] == 202
    return api


def jobs_of(installation_id: int) -> dict[Job, dict[str, Delivery]]:
    """The deliveries of each job, by action."""
    found: dict[Job, dict[str, Delivery]] = {}
    for each in SENT:
        if isinstance(each.subject, Job) and each.subject.run.repository.installation_id == installation_id:
            actions = found.setdefault(each.subject, {})
            if each.event in ("workflow_job", "deployment_review"):
                actions[each.payload["action"]] = each
    return found


def waits(installation_id: int, *, for_approval: bool) -> Iterator[timedelta]:
    """How long each completed job waited for its runner; with or without its wait for a person."""
    for job, actions in jobs_of(installation_id).items():
        if "completed" in actions and "in_progress" in actions:
            wait = actions["in_progress"].happened_at - job.created_at
            if "approved" in actions and not for_approval:
                wait -= actions["approved"].happened_at - actions["requested"].happened_at
            yield wait


def p90(values: list[timedelta]) -> float:
    """The smallest value that at least 90 % of all don't exceed."""
    return sorted(values)[math.ceil(0.9 * len(values)) - 1].total_seconds()


def test_the_demo_has_no_job_without_a_workflow_id_once_its_run_is_known(demo: Client) -> None:
    listed = [
        job
        for each in REPOSITORIES
        for job in demo.get(f"/v1/installations/{each.installation_id}/jobs", repo=each.full_name, limit=200).body[
            "items"
        ]
    ]
    played = {job.id: job.run.workflow_id for each in INSTALLATIONS for job in jobs_of(each)}
    assert len(played) > 40
    assert {job["job_id"]: job.get("workflow_id") for job in listed} == played


def test_the_queue_times_of_the_demo_are_free_of_approvals(demo: Client) -> None:
    with_approvals = [max(waits(each, for_approval=True)) for each in INSTALLATIONS]
    assert max(with_approvals) > WAIT_FOR_THE_APPROVAL
    for installation_id in INSTALLATIONS:
        found = demo.get(f"/v1/installations/{installation_id}/statistics", since="30d").body["queue_seconds"]
        expected = list(waits(installation_id, for_approval=False))
        assert max(expected) < LONGEST_WAIT_FOR_A_RUNNER
        assert (found["count"], found["max"]) == (len(expected), max(expected).total_seconds())
        assert found["p90"] == pytest.approx(p90(expected), rel=0.01)
