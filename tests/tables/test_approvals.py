"""Approvals reach deployments and the histories of the jobs that wait, in any order."""

from itertools import permutations, product
from typing import TYPE_CHECKING, Any

import pytest
from runledger.model.gates import precedence
from runledger.model.reports import Approval

from tests.support import messages
from tests.support.beds import empty, items
from tests.support.ledgers import DEPLOYMENTS, EVENTS, JOBS, ledger_on
from tests.support.memory import in_memory
from tests.support.messages import Message
from tests.support.webhooks import COMPLETED, DEPLOYMENT, INSTALLATION, JOB, QUEUED_AGAIN, REPO, WAITING, payload
from tests.tables.test_runs import take

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

BOOKKEEPING = {"ttl", "checked_at", "delivery_id", "reported_at"}
WITH_DEPLOYMENT = payload(WAITING) | {"deployment": {"id": DEPLOYMENT, "environment": messages.ENVIRONMENT}}

STORIES: dict[str, dict[str, Message]] = {
    "approved": {
        "job waiting": ("workflow_job", WITH_DEPLOYMENT),
        "deployment": messages.deployment(),
        "status waiting": messages.deployment_status("waiting", job_id=JOB),
        "review requested": messages.review("requested"),
        "review approved": messages.review("approved"),
        "status success": messages.deployment_status("success"),
    },
    "rejected": {
        "job waiting": ("workflow_job", WITH_DEPLOYMENT),
        "protection rule": messages.protection_rule(),
        "review rejected": messages.review("rejected"),
        "status failure": messages.deployment_status("failure"),
        "job completed": ("workflow_job", payload(COMPLETED, conclusion="failure", runner_id=0, runner_name=None)),
    },
}
IN_PROGRESS_AT, SUCCESS_AT = "2025-01-15T10:03:00.000Z", "2025-01-15T10:05:00.000Z"
ENDED_AT = {"approved": "succeeded_at", "rejected": "failed_at"}
DECISIONS = list(product(("approved", "rejected"), ("10:01", "10:02")))
# About 17 orders of each story. Primes, so that all its parts change places.
EVERY = {5: 7, 6: 43}


def deployment(dynamodb: "DynamoDBClient") -> dict[str, Any]:
    (found,) = [item for item in items(dynamodb, DEPLOYMENTS) if item["SK"] == "v"]
    return {name: value for name, value in found.items() if name not in BOOKKEEPING}


@pytest.mark.walk
@in_memory
@pytest.mark.parametrize("ending", STORIES)
def test_any_order_of_a_story_ends_alike_and_reaches_the_jobs_history(dynamodb: "DynamoDBClient", ending: str) -> None:
    story = STORIES[ending]
    ended = []
    for order in list(permutations(story))[:: EVERY[len(story)]]:
        ledger = ledger_on(dynamodb)
        for second, step in enumerate([*order, *order]):
            take(ledger, story[step], guid=step, at=second)
        ended.append(deployment(dynamodb))
        (job,) = [item for item in items(dynamodb, JOBS) if item["SK"] == "v"]
        assert (job["deployment_id"], job["environment"]) == (DEPLOYMENT, "production")
        lines = [line["event_type"] for line in items(dynamodb, EVENTS) if line["PK"] == f"{INSTALLATION}#{JOB}"]
        assert f"deployment_{ending}" in lines
        empty(dynamodb)
    assert ended == [ended[0]] * len(ended)
    assert ended[0] == {
        "PK": f"{INSTALLATION}#{DEPLOYMENT}",
        "SK": "v",
        "installation_id": INSTALLATION,
        "deployment_id": DEPLOYMENT,
        "repo_full_name": REPO,
        "environment": "production",
        "status": ending,
        "requires_approval": True,
        "created_at": "2025-01-15T10:00:05.000Z",
        f"{ending}_at": "2025-01-15T10:01:00.000Z",
        "job_ids": {JOB},
        "head_sha": "f95f852bd8fca8fcc58a9a2d6c842781e32a215e",
        "ref": "master",
        "creator": "Codertocat",
        ENDED_AT[ending]: SUCCESS_AT,
    }


def test_a_deployment_without_reviewers_is_approved_when_it_continues(dynamodb: "DynamoDBClient") -> None:
    ledger = ledger_on(dynamodb)
    take(ledger, messages.deployment(), guid="d", at=0)
    assert (deployment(dynamodb)["status"], deployment(dynamodb)["requires_approval"]) == ("pending", False)
    take(ledger, messages.deployment_status("in_progress"), guid="s", at=1)
    assert (deployment(dynamodb)["status"], deployment(dynamodb)["requires_approval"]) == ("approved", False)


@pytest.mark.parametrize("order", [("in_progress", "success"), ("success", "in_progress")], ids="-".join)
def test_without_a_review_the_first_state_that_passed_the_gate_has_the_time_of_the_approval(
    dynamodb: "DynamoDBClient", order: tuple[str, str]
) -> None:
    created = {"in_progress": IN_PROGRESS_AT, "success": SUCCESS_AT}
    ledger = ledger_on(dynamodb)
    take(ledger, messages.deployment_status("waiting", created="2025-01-15T10:01:00Z"), guid="waiting", at=0)
    assert "approved_at" not in deployment(dynamodb)
    for second, state in enumerate([*order, *order], start=1):
        take(ledger, messages.deployment_status(state, created=created[state]), guid=state, at=second)
    found = deployment(dynamodb)
    assert (found["status"], found["approved_at"], "rejected_at" in found) == ("approved", IN_PROGRESS_AT, False)


@pytest.mark.parametrize("decision", ["approved", "rejected"])
@pytest.mark.parametrize("review_comes_first", [True, False])
def test_the_time_of_a_review_has_precedence_over_that_of_a_state(
    dynamodb: "DynamoDBClient", decision: str, *, review_comes_first: bool
) -> None:
    """Even if the state is older: GitHub writes it when the deployment continues, and its clock has whole seconds."""
    ledger = ledger_on(dynamodb)
    take(ledger, ("workflow_job", WITH_DEPLOYMENT), guid="job", at=0)
    messages_of = {
        "review": messages.review(decision, since="2025-01-15T10:04:00Z"),
        "state": messages.deployment_status("in_progress", created=IN_PROGRESS_AT),
    }
    for second, name in enumerate(sorted(messages_of, reverse=not review_comes_first), start=1):
        take(ledger, messages_of[name], guid=name, at=second)
    found = deployment(dynamodb)
    assert (found["status"], found[f"{decision}_at"]) == (decision, "2025-01-15T10:04:00.000Z")
    assert not {"approved_at", "rejected_at", "decision_inferred"} - {f"{decision}_at"} & found.keys()


def test_a_failed_deployment_has_no_time_of_a_decision(dynamodb: "DynamoDBClient") -> None:
    take(ledger_on(dynamodb), messages.deployment_status("failure"), guid="failure", at=0)
    assert not {"approved_at", "rejected_at"} & deployment(dynamodb).keys()


def test_a_review_of_another_environment_or_attempt_changes_no_job(dynamodb: "DynamoDBClient") -> None:
    ledger = ledger_on(dynamodb)
    take(ledger, ("workflow_job", payload(QUEUED_AGAIN)), guid="job", at=0)
    take(ledger, messages.review("approved", environment="staging"), guid="other", at=1)
    take(ledger, messages.review("approved", attempt=2), guid="later", at=2)
    assert deployment(dynamodb)["status"] == "pending"
    assert [line["event_type"] for line in items(dynamodb, EVENTS)] == ["webhook_queued"]


def test_the_first_decision_after_a_job_was_created_replaces_a_later_one(dynamodb: "DynamoDBClient") -> None:
    ledger = ledger_on(dynamodb)
    take(ledger, ("workflow_job", WITH_DEPLOYMENT), guid="job", at=0)
    take(ledger, messages.review("rejected", since="2025-01-15T10:06:00Z"), guid="rejected", at=360)
    assert (deployment(dynamodb)["status"], "rejected_at" in deployment(dynamodb)) == ("rejected", True)
    take(ledger, messages.review("approved", since="2025-01-15T10:01:00Z"), guid="approved", at=60)
    take(ledger, messages.review("rejected", since="2025-01-15T10:06:00Z"), guid="rejected again", at=400)
    take(ledger, messages.deployment_status("waiting"), guid="waiting", at=10)
    assert (deployment(dynamodb)["status"], "rejected_at" in deployment(dynamodb)) == ("approved", False)


@pytest.mark.parametrize("second", DECISIONS, ids="-".join)
@pytest.mark.parametrize("first", DECISIONS, ids="-".join)
def test_the_table_and_the_gate_prefer_the_same_decision(
    dynamodb: "DynamoDBClient", first: tuple[str, str], second: tuple[str, str]
) -> None:
    ledger = ledger_on(dynamodb)
    take(ledger, ("workflow_job", WITH_DEPLOYMENT), guid="job", at=0)
    for guid, (decision, time) in (("first", first), ("second", second)):
        take(ledger, messages.review(decision, since=f"2025-01-15T{time}:00Z"), guid=guid, at=300)
    status, time = min(first, second, key=lambda each: precedence(each[1], Approval(each[0])))
    found = deployment(dynamodb)
    assert (found["status"], found[f"{status}_at"]) == (status, f"2025-01-15T{time}:00.000Z")
    assert not {"approved_at", "rejected_at"} - {f"{status}_at"} & found.keys()
