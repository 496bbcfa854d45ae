"""Requests to the API with hostile numbers, names and bodies are rejected with 400 or 404, never with 500."""

import json
from typing import Any

import pytest

from tests.api.client import Client
from tests.functions.conftest import World
from tests.security.hostile_values import NAMES, TOO_DEEP, TOO_MANY_DIGITS
from tests.support.webhooks import INSTALLATION, QUEUED, RUN, http_event
from tests.support.webhooks import payload as job_payload


def record_a_job(world: World) -> None:
    event = http_event(json.dumps(job_payload(QUEUED)).encode(), event="workflow_job")
    assert world.invoke("webhook_intake", event)["statusCode"] == 202


BODIES = [
    (f'{{"pass": {TOO_MANY_DIGITS}}}', 400),
    (f'{{"other": {TOO_MANY_DIGITS}}}', 400),
    (f'{{"run_attempt": {TOO_MANY_DIGITS}}}', 400),
    (TOO_MANY_DIGITS, 400),
    (TOO_DEEP, 400),
    ('{"pass": NaN}', 400),
    ('{"pass": "\\ud800"}', 400),
    ('{"pass": []}', 400),
    ("{", 400),
]


@pytest.mark.parametrize(("body", "status"), BODIES, ids=[body[:30] for body, _ in BODIES])
def test_a_hostile_body_of_an_order_is_refused(
    api: Client, pass_requests: list[dict[str, Any]], body: str, status: int
) -> None:
    refusal = api.request("POST", "/admin/reconciliation/run", body=body)
    assert (refusal.status, refusal.body["status"]) == (status, status)
    assert pass_requests == []


def test_a_rerun_with_too_many_digits_is_refused(world: World, api: Client) -> None:
    record_a_job(world)
    path = f"/v1/installations/{INSTALLATION}/runs/{RUN}/rerun"
    for number, status in ((TOO_MANY_DIGITS, 400), ("1e400", 400), ("NaN", 400), ("9" * 4000, 409)):
        assert api.request("POST", path, body=f'{{"run_attempt": {number}}}').status == status


@pytest.mark.parametrize("repo", [name for name, allowed in NAMES.items() if not allowed])
def test_a_parameter_that_is_no_repository_is_refused(api: Client, world: World, repo: str) -> None:
    record_a_job(world)
    for path in ("jobs", "statistics"):
        assert api.get(f"/v1/installations/{INSTALLATION}/{path}", repo=repo).status == 400


def test_hostile_numbers_in_paths_and_queries_are_refused(api: Client, world: World) -> None:
    record_a_job(world)
    jobs = f"/v1/installations/{INSTALLATION}/jobs"
    for number in (TOO_MANY_DIGITS, f"-{TOO_MANY_DIGITS}", "NaN", "1e5", "\u0663", str(2**63), "0x10"):
        assert api.get(f"/v1/installations/{number}/jobs", status="queued").status in (400, 404)
        assert api.get(f"{jobs}/{number}").status in (400, 404)
        assert api.get(jobs, run_id=number).status == 400
        assert api.get(jobs, status="queued", limit=number).status == 400


def test_an_address_that_names_no_repository_is_refused(api: Client) -> None:
    for path in ("../b/actions/runs/1", "a/../actions/runs/1", "a/b/actions/runs/" + TOO_MANY_DIGITS):
        assert api.get("/v1/jobs/lookup", url=f"https://github.com/{path}").status == 400
