"""What is read from a webhook, and which values are dropped."""

from dataclasses import replace

import pytest
from runledger.model.errors import Malformed
from runledger.model.inputs import Receipt, Status
from runledger.model.job import Job
from runledger.webhooks.readers import dispatcher

from tests.support.webhooks import COMPLETED, IN_PROGRESS, LIFE, QUEUED, REPO, delivery, payload, receipt


def read(message: object) -> Receipt | None:
    found = dispatcher.read(delivery(message, guid="g"))
    assert all(isinstance(each, Receipt) for each in found)
    return found[0] if found else None  # type: ignore[return-value]


def job(*receipts: Receipt) -> Job:
    opened = Job.opened_by(receipts[0])
    for each in receipts:
        opened = opened.absorb(each)
    return opened


def test_a_finished_job_has_every_fact_of_its_webhooks() -> None:
    finished = job(*(receipt(step, at=second) for second, step in enumerate(LIFE)))
    assert (finished.org_name, finished.repo_full_name, finished.repo_is_private) == ("lineville", REPO, False)
    assert (finished.workflow_name, finished.job_name, finished.default_branch) == ("Env Test", "test", "main")
    assert finished.labels == ("self-hosted", "k8s")
    assert finished.custom_properties == {"team": "platform", "tier": ["gold", "silver"]}
    assert finished.deployment_id == 875_132
    assert (finished.runner_id, finished.runner_group_id) == (42, 1)
    assert finished.created_at == "2025-01-15T10:00:00.000Z"
    assert finished.received_at == "2025-01-15T10:00:00.123Z"
    assert (finished.status, finished.conclusion) == (Status.COMPLETED, "success")
    assert finished.overall_queue_duration_in_ms is None  # it waited for an approval whose time isn't reported
    assert finished.usage_in_seconds == 615


def test_started_at_and_the_runner_are_not_believed_before_in_progress() -> None:
    queued = job(receipt(QUEUED, runner_id=5, runner_name="GitHub Actions 5"))
    assert (queued.started_at, queued.runner_id, queued.runner_name) == (None, None, None)


@pytest.mark.parametrize("runner_id", [0, None])
def test_a_job_that_was_cancelled_in_the_queue_never_ran(runner_id: int | None) -> None:
    cancelled = job(
        receipt(QUEUED),
        receipt(
            COMPLETED,
            at=9,
            conclusion="cancelled",
            runner_id=runner_id,
            runner_name=None,
            started_at="2025-01-15T10:12:45Z",
        ),
    )
    assert (cancelled.status, cancelled.conclusion) == (Status.COMPLETED, "cancelled")
    assert (cancelled.started_at, cancelled.runner_id) == (None, None)
    assert (cancelled.usage_in_seconds, cancelled.overall_queue_duration_in_ms) == (0, None)


def test_a_job_carried_over_from_an_earlier_attempt_is_not_charged_again() -> None:
    carried = job(receipt(COMPLETED, run_attempt=2, created_at="2025-01-15T11:00:00Z"))
    assert (carried.usage_in_seconds, carried.overall_queue_duration_in_ms) == (0, None)


def test_a_payload_without_creation_is_as_old_as_its_start() -> None:
    """GitHub Enterprise Server before 3.6 sends neither created_at nor run_attempt."""
    old = read(payload(IN_PROGRESS, created_at=None, run_attempt=None))
    assert old is not None
    assert (job(old).created_at, job(old).run_attempt) == ("2025-01-15T10:02:30.000Z", 1)


def test_the_payload_may_be_further_than_its_action() -> None:
    assert receipt(QUEUED, status="waiting").status is Status.WAITING
    assert receipt(IN_PROGRESS, status="queued").status is Status.IN_PROGRESS
    assert receipt(QUEUED, status="gibberish").status is Status.QUEUED


def test_a_hook_that_is_not_an_apps_is_installation_zero() -> None:
    without = payload(QUEUED)
    del without["installation"]
    found = read(without)
    assert found is not None
    assert found.installation_id == 0


@pytest.mark.parametrize(
    ("path", "value", "error"),
    [
        ("workflow_job", None, "workflow_job is missing"),
        ("workflow_job", [], "workflow_job must be an object"),
        ("workflow_job.id", None, "workflow_job.id is missing"),
        ("workflow_job.id", "17", "workflow_job.id must be a whole number"),
        ("workflow_job.id", True, "workflow_job.id must be a whole number"),
        ("workflow_job.id", 1.5, "workflow_job.id must be a whole number"),
        ("workflow_job.id", -1, "workflow_job.id must be a whole number"),
        ("workflow_job.id", 2**63, "workflow_job.id must be a whole number"),
        ("workflow_job.run_id", None, "workflow_job.run_id is missing"),
        ("workflow_job.run_id", {}, "workflow_job.run_id must be a whole number"),
        ("workflow_job.run_attempt", "2", "workflow_job.run_attempt must be a whole number"),
        ("repository", None, "repository is missing"),
        ("repository.full_name", None, "repository.full_name is missing"),
        ("repository.full_name", "", "repository.full_name must be a string"),
        ("repository.full_name", "x" * 257, "repository.full_name must be a string"),
        ("installation", "1", "installation must be an object"),
        ("installation.id", None, "installation.id is missing"),
        ("installation.id", "1", "installation.id must be a whole number"),
        ("action", 7, "action must be a string"),
    ],
)
def test_an_invalid_field_is_rejected_with_its_name(path: str, value: object, error: str) -> None:
    message = payload(QUEUED)
    *sections, name = path.split(".")
    target = message
    for section in sections:
        target = target[section]
    target[name] = value
    with pytest.raises(Malformed, match=f"^{error}"):
        read(message)


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"", "is not JSON"),
        (b"{", "is not JSON"),
        (b"\xff\xfe", "is not JSON"),
        (b"[" * 100_000, "is nested too deeply"),
        (b'{"n": ' + b"9" * 10_000 + b"}", "contains a number with too many digits"),
    ],
)
def test_what_is_not_json_is_refused(body: bytes, problem: str) -> None:
    with pytest.raises(Malformed, match=f"^body {problem}"):
        dispatcher.read(replace(delivery({}, guid="g"), body=body))


@pytest.mark.parametrize("body", ["[]", "null", "7", '"text"'])
def test_what_is_not_an_object_is_refused(body: str) -> None:
    with pytest.raises(Malformed, match="must be a JSON object"):
        dispatcher.read(replace(delivery({}, guid="g"), body=body.encode()))


def test_an_action_or_event_that_is_not_recorded_has_no_inputs() -> None:
    assert read(payload(QUEUED) | {"action": "deferred"}) is None
    assert dispatcher.read(delivery({}, guid="g", event="star")) == ()


def test_other_fields_are_bounded_and_wrong_ones_are_left_out() -> None:
    odd = receipt(
        QUEUED,
        name="n" * 10_000,
        labels=["l" * 10_000, 7, None, ""] + ["x"] * 500,
        head_branch=7,
        html_url=["no"],
        created_at="yesterday",
        workflow_name="half a character: \ud83d",
    )
    assert odd.facts.job_name == "n" * 256
    assert odd.facts.labels is not None
    assert len(odd.facts.labels) == 50
    assert max(map(len, odd.facts.labels)) == 256
    assert (odd.facts.head_branch, odd.facts.job_html_url) == (None, None)
    assert odd.facts.created_at == "2025-01-15T10:00:00.000Z"
    assert odd.facts.workflow_name == "half a character: ?"


def test_custom_properties_are_kept_within_a_bound() -> None:
    message = payload(QUEUED)
    message["repository"]["custom_properties"] = {f"p{n:03}": "v" * 200 for n in range(100)} | {"": "x", "none": None}
    found = read(message)
    assert found is not None
    assert found.facts.custom_properties is not None
    assert list(found.facts.custom_properties) == [f"p{n:03}" for n in range(9)]
