"""Orphans, requests for passes, and dead letters."""

from typing import Any
from urllib.parse import quote

import pytest
from runledger.model.suspicion import Cleared
from runledger.tables.passes import PassesTable
from runledger.tables.runners import RunnersTable
from runledger_api import wiring

from tests.api.client import TOKENS, Client
from tests.api.conftest import ELSEWHERE, Live
from tests.functions.conftest import World
from tests.support.ledgers import RUNNERS
from tests.support.runner_events import INSTANCE, TASK
from tests.support.runner_items import launched
from tests.support.webhooks import INSTALLATION, JOB, RUN

AT = "2025-01-15T11:50:00.000Z"
LATER = "2025-01-15T11:55:00.000Z"


@pytest.fixture
def runners(world: World) -> RunnersTable:
    return RunnersTable(world.dynamodb, RUNNERS, retention_days=14)


def suspect(
    runners: RunnersTable,
    runner_id: str,
    installation_id: int = INSTALLATION,
    *,
    job_id: int = 1,
    reason: str = "job_completed",
) -> None:
    at = "2025-01-15T10:00:00.000Z"
    launched(runners, runner_id, installation_id=installation_id, job_id=job_id, at=at, kind="ec2")
    assert runners.suspect(runner_id, at=AT, reason=reason)


def test_a_suspected_runner_that_is_only_reported_is_never_due(
    api: Client, runners: RunnersTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ORPHANS", "report")
    wiring.settings.cache_clear()
    suspect(runners, INSTANCE)
    (orphan,) = api.get("/admin/orphans", status="suspected").body["orphans"]
    assert "due_at" not in orphan


def test_suspected_runners_are_listed_with_when_they_are_due(api: Client, runners: RunnersTable) -> None:
    suspect(runners, INSTANCE)
    launched(runners, "i-busy", installation_id=INSTALLATION, job_id=2, at=AT)
    found = api.get("/admin/orphans", status="suspected").body
    assert found["total"] == 1
    (orphan,) = found["orphans"]
    assert (orphan["runner_id"], orphan["status"], orphan["reason"]) == (INSTANCE, "active", "job_completed")
    assert (orphan["detected_at"], orphan["due_at"]) == (AT, "2025-01-15T12:00:00.000Z")
    assert (orphan["installation_id"], orphan["job_id"], orphan["kind"]) == (INSTALLATION, 1, "ec2")


def test_an_orphan_is_listed_with_its_run_job_and_machine(api: Client, runners: RunnersTable, live: Live) -> None:
    live(JOB)
    suspect(runners, INSTANCE, job_id=JOB)
    found = api.get("/admin/orphans").body
    (orphan,) = found["orphans"]
    assert (orphan["run_id"], orphan["job_status"], orphan["job_conclusion"]) == (RUN, "completed", "success")
    assert (orphan["machine_state"], orphan["detected_at"], orphan["reason"]) == ("running", AT, "job_completed")
    assert found["total"] == 1


@pytest.mark.parametrize(("reason", "state"), [("instance_gone", "gone"), ("instance_stopped", "stopped")])
def test_an_orphan_is_listed_with_the_state_of_its_machine(
    api: Client, runners: RunnersTable, reason: str, state: str
) -> None:
    suspect(runners, INSTANCE, reason=reason)
    (orphan,) = api.get("/admin/orphans").body["orphans"]
    assert (orphan["machine_state"], "job_status" in orphan) == (state, False)


def test_a_runner_that_works_on_an_unknown_job_is_listed_as_such_and_not_as_an_orphan(
    api: Client, runners: RunnersTable
) -> None:
    """GitHub reported it as busy, so its suspicion was cleared. The next recorded job ends this state."""
    for runner_id, found in ((INSTANCE, Cleared.BUSY), ("i-in-use", Cleared.IN_USE)):
        suspect(runners, runner_id)
        runners.clear_suspicion(runner_id, suspected_at=AT, at=LATER, found=found)
    listed = api.get("/admin/orphans", status="unknown_job").body
    (busy,) = listed["orphans"]
    assert (busy["runner_id"], busy["status"], busy["reason"]) == (INSTANCE, "unknown_job", "unknown_job")
    assert listed["total"] == 1
    assert (busy["detected_at"], busy["job_id"], busy["machine_state"]) == (LATER, 1, "running")
    assert api.get("/admin/orphans").body == {"orphans": [], "total": 0}
    assert api.with_token(TOKENS["scoped"]).get("/admin/orphans", status="unknown_job").body["total"] == 0
    launched(runners, INSTANCE, installation_id=INSTALLATION, job_id=2, at=LATER)
    assert api.get("/admin/orphans", status="unknown_job").body["total"] == 0


@pytest.mark.parametrize("number", [JOB, RUN])
def test_an_orphan_can_be_cleaned_by_its_job_or_its_run(
    api: Client, runners: RunnersTable, live: Live, pass_requests: list[Any], number: int
) -> None:
    live(JOB)
    suspect(runners, INSTANCE, job_id=JOB)
    assert api.post(f"/admin/orphans/{number}/cleanup").status == 202
    assert [each["clean"] for each in pass_requests] == [INSTANCE]


def test_a_job_or_run_without_an_orphan_has_none_to_clean(
    api: Client, runners: RunnersTable, live: Live, pass_requests: list[Any]
) -> None:
    live(JOB)
    launched(runners, INSTANCE, installation_id=INSTALLATION, job_id=JOB, at=AT)
    response = api.post(f"/admin/orphans/{JOB}/cleanup")
    assert (response.status, response.body["detail"]) == (404, f"No orphan of a job or run {JOB} was found")
    suspect(runners, INSTANCE, job_id=JOB)
    assert api.with_token(TOKENS["scoped"]).post(f"/admin/orphans/{JOB}/cleanup").status == 404
    assert pass_requests == []


def test_a_run_with_several_orphans_needs_the_id_of_one(
    api: Client, runners: RunnersTable, live: Live, pass_requests: list[Any]
) -> None:
    live(JOB)
    for runner_id in (INSTANCE, "i-another"):
        suspect(runners, runner_id, job_id=JOB)
    response = api.post(f"/admin/orphans/{RUN}/cleanup")
    assert (response.status, pass_requests) == (409, [])
    assert f"{RUN} has 2 orphans" in response.body["detail"]
    assert "i-another" in response.body["detail"]


def test_the_result_of_a_cleanup_is_a_sentence(api: Client, world: World) -> None:
    result = "Not cleaned: GitHub reports this runner as busy"
    PassesTable(world.dynamodb, RUNNERS).note("one", at=AT, status="finished", result=result, **{"pass": "cleanup"})
    assert api.get("/admin/reconciliation/one").body["result"] == result


def test_orphans_of_other_installations_are_not_listed(api: Client, runners: RunnersTable) -> None:
    suspect(runners, INSTANCE)
    suspect(runners, "i-elsewhere", ELSEWHERE)
    found = api.with_token(TOKENS["scoped"]).get("/admin/orphans").body
    assert [orphan["runner_id"] for orphan in found["orphans"]] == ["i-elsewhere"]
    assert api.with_token(TOKENS["scoped"]).post(f"/admin/orphans/{INSTANCE}/cleanup").status == 404


@pytest.mark.parametrize("runner_id", [INSTANCE, TASK])
@pytest.mark.parametrize("decoded", [True, False])
def test_a_cleanup_is_requested_and_can_be_followed(
    api: Client, runners: RunnersTable, pass_requests: list[Any], runner_id: str, decoded: bool
) -> None:
    """API Gateway decodes the path before the function sees it."""
    suspect(runners, runner_id)
    response = api.post(f"/admin/orphans/{runner_id if decoded else quote(runner_id, safe='')}/cleanup")
    assert response.status == 202
    limits = {"clean": runner_id, "installations": None}
    sent = {"requested_by": "token:olga", "correlation_id": response.headers["X-Request-Id"]}
    assert pass_requests == [{"version": 1, **limits, "id": response.body["id"], **sent}]
    followed = api.get(f"/admin/reconciliation/{response.body['id']}").body
    assert (followed["pass"], followed["status"], followed["requested_by"]) == ("cleanup", "requested", "token:olga")
    assert (followed["summary"], followed["findings"], followed["text"]) == ({}, [], "")


def test_only_a_suspected_orphan_can_be_cleaned(api: Client, runners: RunnersTable) -> None:
    launched(runners, INSTANCE, installation_id=INSTALLATION, job_id=2, at=AT)
    response = api.post(f"/admin/orphans/{INSTANCE}/cleanup")
    assert (response.status, "isn't a suspected orphan" in response.body["detail"]) == (409, True)
    assert api.post("/admin/orphans/i-unknown/cleanup").status == 404


@pytest.mark.parametrize(("body", "kind"), [(None, "full"), ({}, "full"), ({"pass": "quick"}, "quick")])
def test_a_pass_is_requested(api: Client, pass_requests: list[Any], body: object, kind: str) -> None:
    response = api.post("/admin/reconciliation/run", body)
    assert response.status == 202
    sent = {"requested_by": "token:olga", "correlation_id": response.headers["X-Request-Id"]}
    assert pass_requests == [{"version": 1, "pass": kind, "id": response.body["id"], **sent}]
    found = api.get(f"/admin/reconciliation/{response.body['id']}").body
    assert (found["pass"], found["requested_at"]) == (kind, "2025-01-15T12:00:00.000Z")


def test_a_finished_pass_lists_its_findings(api: Client, world: World) -> None:
    passes = PassesTable(world.dynamodb, RUNNERS)
    about = {"pass": "full", "status": "finished", "summary": {"healed": 2}, "findings": ["job 1"], "text": "words"}
    passes.note("20250115T100000000Z-abc", at=AT, **about)
    found = api.get("/admin/reconciliation/20250115T100000000Z-abc").body
    assert (found["summary"], found["findings"], found["text"]) == ({"healed": 2}, ["job 1"], "words")
    assert api.get("/admin/reconciliation/unknown").status == 404


def test_the_outcome_of_a_pass_is_shown(api: Client, world: World) -> None:
    passes = PassesTable(world.dynamodb, RUNNERS)
    passes.note("one", at=AT, status="finished", outcome="errors", **{"pass": "full"})
    assert api.get("/admin/reconciliation/one").body["outcome"] == "errors"


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        ({"status": "running", "started_at": "2025-01-15T11:49:00.000Z"}, "failed"),
        ({"status": "running", "started_at": "2025-01-15T11:59:00.000Z"}, "running"),
        ({"status": "requested", "requested_at": "2025-01-15T11:44:00.000Z"}, "failed"),
        ({"status": "requested", "requested_at": "2025-01-15T11:46:00.000Z"}, "requested"),
    ],
)
def test_a_pass_without_a_result_has_failed_once_its_function_must_have_ended(
    api: Client, world: World, stored: dict[str, str], shown: str
) -> None:
    PassesTable(world.dynamodb, RUNNERS).note("one", at=AT, **{"pass": "full"}, **stored)
    assert api.get("/admin/reconciliation/one").body["status"] == shown


def test_passes_are_listed_newest_first_and_go_on(api: Client, world: World) -> None:
    passes = PassesTable(world.dynamodb, RUNNERS)
    for number in range(5):
        passes.note(f"2025011{number}", at=AT, status="finished", **{"pass": "quick"})
    seen, cursor = [], None
    for _ in range(3):
        page = api.get("/admin/reconciliation", limit=2, cursor=cursor).body
        seen += [each["id"] for each in page["items"]]
        cursor = page["next_cursor"]
    assert (seen, cursor) == ([f"2025011{number}" for number in (4, 3, 2, 1, 0)], None)


def test_dead_letters_are_counted(api: Client, world: World) -> None:
    world.sqs.send_message(QueueUrl=world.queue_url, MessageBody="dead")
    assert api.get("/admin/dead-letters").body["items"] == [{"queue": "WebhookRetries", "messages": 1}]


def test_without_a_github_app_nothing_is_redelivered(api: Client) -> None:
    response = api.post("/admin/webhooks/72d3162e-cc78-11e3-81ab-4c9367dc0958/redeliver")
    assert (response.status, "no GitHub App" in response.body["detail"]) == (409, True)
