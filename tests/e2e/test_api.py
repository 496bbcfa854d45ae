"""The deployed API: from a signed webhook to the response, with the function's own role and layers."""

import gzip
import re
import urllib.request
from typing import Any
from urllib.parse import quote

import pytest

from local.aws.outputs import Outputs
from tests.e2e.api import call
from tests.e2e.test_webhooks import NO_INSTANCE, post
from tests.support.polling import eventually
from tests.support.runner_events import TASK
from tests.support.webhooks import DEPLOYMENT, INSTALLATION, LIFE, REPO, RUN, payload

HERE = f"/v1/installations/{INSTALLATION}"
JOB = 5_000_001


@pytest.fixture(scope="module", autouse=True)
def job(outputs: Outputs) -> int:
    for step in LIFE:
        assert post(outputs, payload(step, job_id=JOB, runner_name=NO_INSTANCE), guid=f"{step} of {JOB}").status == 202
    return JOB


def test_a_job_its_history_its_run_and_its_deployment_are_found(outputs: Outputs) -> None:
    found = call(outputs, f"{HERE}/jobs/{JOB}")
    assert (found.status, found.body["status"]) == (200, "completed")
    assert float(found.headers["X-Read-Units"]) > 0
    assert len(call(outputs, f"{HERE}/jobs/{JOB}/events").body["items"]) == len(LIFE)
    run = call(outputs, f"{HERE}/runs/{RUN}").body
    assert JOB in [each["job_id"] for each in run["jobs"]]
    assert JOB in call(outputs, f"{HERE}/deployments/{DEPLOYMENT}").body["job_ids"]
    pasted = call(outputs, "/v1/jobs/lookup", url=f"https://github.com/{REPO}/actions/runs/{RUN}/job/{JOB}")
    assert pasted.body["job_id"] == JOB


READS = (
    *("/v1/me", "/v1/installations", "/admin/orphans", "/admin/reconciliation", "/admin/dead-letters"),
    *(f"{HERE}/{name}" for name in ("stuck", "statistics", "repositories", "counts", "pools", "events")),
    *(f"{HERE}/approvals/waiting", f"{HERE}/jobs?status=completed", f"{HERE}/jobs?repo={REPO}", "/openapi.json"),
)


@pytest.mark.parametrize("path", READS)
def test_everything_can_be_read_with_the_roles_exact_permissions(outputs: Outputs, path: str) -> None:
    response = call(outputs, path)
    assert response.status == 200, response.body
    assert response.headers["X-Request-Id"]


def test_the_openapi_document_is_shown_from_this_api_alone(outputs: Outputs) -> None:
    page = call(outputs, "/docs")
    assert (page.status, len(page.body) < 2000) == (200, True)
    policy = page.headers["Content-Security-Policy"]
    assert "'unsafe" not in policy
    assert {"frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'"} <= set(policy.split("; "))
    names = re.findall(r'(?:src|href)="(assets/[^"]+)"', page.body)
    assert len(names) == 3
    for name in names:
        request = urllib.request.Request(f"{outputs.api_url}/{name}", headers={"Accept-Encoding": "gzip"})
        with urllib.request.urlopen(request) as response:
            assert gzip.decompress(response.read())
            assert response.headers["Cache-Control"] == "public, max-age=31536000, immutable"


def test_errors_are_problems_behind_the_gateway_too(outputs: Outputs) -> None:
    for path, status in ((f"{HERE}/jobs", 400), (f"{HERE}/jobs/5", 404), ("/v1/nothing", 404)):
        response = call(outputs, path)
        assert (response.status, response.headers["Content-Type"]) == (status, "application/problem+json")
    assert call(outputs, "/v1/me", method="DELETE").status == 405
    assert (
        call(outputs, f"/admin/orphans/{quote(TASK, safe='')}/cleanup", method="POST").body["detail"]
        == f"Runner {TASK} was not found"
    )


def test_a_pass_of_the_reconciler_is_requested_and_its_result_is_read(outputs: Outputs) -> None:
    requested = call(outputs, "/admin/reconciliation/run", method="POST", body={"pass": "quick"})
    assert requested.status == 202, requested.body

    def finished() -> dict[str, Any] | None:
        found: dict[str, Any] = call(outputs, f"/admin/reconciliation/{requested.body['id']}").body
        return found if found["status"] == "finished" else None

    found = eventually(finished, "the pass is finished")
    assert (found["pass"], found["requested_by"]) == ("quick", "token:local-admin")
    assert found["text"].startswith("Reconciliation (quick)")
    assert requested.body["id"] in [each["id"] for each in call(outputs, "/admin/reconciliation").body["items"]]


def test_githubs_reason_why_a_run_cannot_be_re_run_is_shown(outputs: Outputs) -> None:
    response = call(outputs, f"{HERE}/runs/{RUN}/rerun", method="POST")
    assert (response.status, response.headers["Content-Type"]) == (409, "application/problem+json")
    assert response.body["detail"].startswith("GitHub refused the request")
