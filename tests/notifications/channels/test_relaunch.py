"""A launcher gets what GitHub would send it: signed, complete, once for each request, and without our installation."""

import hmac
import json
import subprocess
import uuid
from typing import Any

import pytest
from jsonschema import Draft7Validator, FormatChecker
from runledger.model import times
from runledger.notifications.channels.github_payloads import queued
from runledger.notifications.channels.interface import ChannelKind, SendOutcome, SendResult

from local import ROOT
from tests.notifications.channels.receivers import Request, receiving, responds
from tests.notifications.channels.scene import INSTALLATION, JOB, LOCAL, event, now, opened, outgoing
from tests.support.channels import channel_settings

RELAUNCH = ChannelKind.RELAUNCH
SECRET = "the launcher's secret"
SCHEMA = json.loads((ROOT / "node_modules" / "@octokit" / "webhooks-schemas" / "schema.json").read_text())
REQUESTED = {name: value for name, value in JOB.items() if name != "conclusion"} | {
    "status": "queued",
    "runner_requests": 1,
}


def problems(payload: dict[str, Any]) -> list[str]:
    """What of it isn't a `workflow_job queued` of GitHub."""
    schema = {"$ref": "#/definitions/workflow_job$queued", "definitions": SCHEMA["definitions"]}
    return [error.message for error in Draft7Validator(schema, format_checker=FormatChecker()).iter_errors(payload)]


def relaunched(job: dict[str, Any] | None = None, **config: Any) -> Request:
    with receiving(responds(201)) as receiver:
        channel = opened(RELAUNCH, {"url": receiver.url, **config}, [SECRET])
        result = channel.send(outgoing("runner.requested", job or REQUESTED))
    assert result == SendResult.accepted()
    (request,) = receiver.requests
    return request


def refused(job: dict[str, Any], kind: str = "runner.requested", **replaced: Any) -> str:
    """The reason. Nothing was sent."""
    with receiving(responds(201)) as receiver:
        channel = opened(RELAUNCH, {"url": receiver.url}, [SECRET])
        result = channel.send(outgoing(kind, job, **replaced))
    assert (result.outcome, receiver.connections) == (SendOutcome.REFUSED, 0)
    return str(result.error)


def test_the_payload_is_a_workflow_job_queued_of_github() -> None:
    assert problems(json.loads(relaunched().body)) == []


def test_a_job_with_the_least_that_the_ledger_may_have_leads_to_a_valid_payload() -> None:
    least = {name: REQUESTED[name] for name in ("job_id", "run_id", "repo_full_name", "labels", "status", "created_at")}
    assert problems(json.loads(relaunched(least).body)) == []


def test_the_schema_rejects_a_payload_that_github_would_not_send() -> None:
    """So the two tests above can fail."""
    payload = queued(REQUESTED)
    assert problems(payload | {"runledger": True})
    assert problems({name: value for name, value in payload.items() if name != "sender"})


def test_the_headers_are_those_of_github() -> None:
    request = relaunched()
    assert request.headers["x-github-event"] == "workflow_job"
    assert str(uuid.UUID(request.headers["x-github-delivery"])) == request.headers["x-github-delivery"]
    expected = "sha256=" + hmac.new(SECRET.encode(), request.body, "sha256").hexdigest()
    assert request.headers["x-hub-signature-256"] == expected
    assert request.headers["content-type"] == "application/json"


def test_the_library_of_launchers_verifies_the_signature() -> None:
    """terraform-aws-github-runner and cdk-github-runners use octokit's."""
    request = relaunched(REQUESTED | {"job_name": "\u00e4\U0001f4a9"})
    script = """
        import { verify } from "@octokit/webhooks-methods";
        const [secret, body, signature] = process.argv.slice(1);
        console.log(await verify(secret, body, signature), await verify("another", body, signature));
    """
    arguments = [SECRET, request.body.decode(), request.headers["x-hub-signature-256"]]
    command = ["node", "--input-type=module", "--eval", script, "--", *arguments]
    found = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    assert found.split() == ["true", "false"]


def test_the_payload_has_what_terraform_aws_github_runner_reads() -> None:
    """Its webhook function verifies the signature, checks the repository, matches the labels, and sends the rest to its
    queue. Without an installation it looks one up, and for runners of an organisation the owner has to be one.
    """
    request = relaunched()
    payload = json.loads(request.body)
    job, repository = payload["workflow_job"], payload["repository"]
    assert (request.headers["x-github-event"], payload["action"]) == ("workflow_job", "queued")
    assert (job["id"], job["labels"]) == (5001, ["self-hosted", "linux", "x64"])
    assert repository["full_name"] == "acme/storefront"
    assert repository["name"] == "storefront"
    assert (repository["owner"]["login"], repository["owner"]["type"]) == ("acme", "Organization")
    assert payload.get("installation", {}).get("id", 0) == 0
    read = (
        "name",
        "status",
        "html_url",
        "run_id",
        "run_attempt",
        "run_url",
        "workflow_name",
        "head_sha",
        "head_branch",
    )
    assert {*read, "created_at", "started_at", "completed_at", "conclusion"} <= job.keys()
    assert len(request.body) < 256 * 1024


def test_our_installation_is_nowhere_in_the_request() -> None:
    request = relaunched()
    assert str(INSTALLATION) not in request.body.decode()
    assert str(INSTALLATION) not in str(request.headers)


def test_the_launchers_own_installation_is_sent_if_the_subscription_names_it() -> None:
    payload = json.loads(relaunched(installation_id=7).body)
    assert payload["installation"]["id"] == 7
    assert problems(payload) == []


def test_our_installation_is_refused_as_the_launchers() -> None:
    with receiving(responds(201)) as receiver:
        channel = opened(RELAUNCH, {"url": receiver.url, "installation_id": INSTALLATION}, [SECRET])
        result = channel.send(outgoing("runner.requested", REQUESTED))
    assert (result.outcome, receiver.connections) == (SendOutcome.REFUSED, 0)


def test_a_repository_of_a_person_is_marked_as_such() -> None:
    assert json.loads(relaunched(owner_type="User").body)["repository"]["owner"]["type"] == "User"


@pytest.mark.parametrize(
    ("page", "api"),
    [
        ("https://github.com", "https://api.github.com"),
        ("https://acme.ghe.com", "https://api.acme.ghe.com"),
        ("https://github.acme.example", "https://github.acme.example/api/v3"),
    ],
)
def test_addresses_are_those_of_the_github_host_of_the_job(page: str, api: str) -> None:
    payload = queued(REQUESTED | {"job_html_url": f"{page}/acme/storefront/actions/runs/4001/job/5001"})
    assert payload["workflow_job"]["url"] == f"{api}/repos/acme/storefront/actions/jobs/5001"
    assert payload["repository"]["html_url"] == f"{page}/acme/storefront"
    assert problems(payload) == []


def test_each_attempt_has_the_same_delivery_id_and_each_message_another() -> None:
    with receiving(responds(500), responds(201)) as receiver:
        channel = opened(RELAUNCH, {"url": receiver.url}, [SECRET])
        for message_id in ("one", "one", "two"):
            channel.send(outgoing("runner.requested", REQUESTED, message_id=message_id))
    first, second, other = (each.headers["x-github-delivery"] for each in receiver.requests)
    assert first == second != other


def test_only_requests_for_runners_are_sent() -> None:
    for kind in ("job.queued", "job.failed", "runledger.message", "runledger.digest", "audit.finished"):
        assert "runner.requested only" in refused(REQUESTED, kind)


def test_the_test_of_a_subscription_is_a_signed_ping_that_launches_nothing() -> None:
    with receiving(responds(202)) as receiver:
        result = opened(RELAUNCH, {"url": receiver.url}, [SECRET]).send(outgoing("runledger.test", {}))
    assert result == SendResult.accepted()
    (request,) = receiver.requests
    assert request.headers["x-github-event"] == "ping"
    assert "workflow_job" not in json.loads(request.body)
    expected = "sha256=" + hmac.new(SECRET.encode(), request.body, "sha256").hexdigest()
    assert request.headers["x-hub-signature-256"] == expected


def test_a_launcher_with_another_secret_rejects_it_and_it_is_tried_later() -> None:
    with receiving(responds(401)) as receiver:
        result = opened(RELAUNCH, {"url": receiver.url}, [SECRET]).send(outgoing("runner.requested", REQUESTED))
    assert result == SendResult.try_later("HTTP 401 Unauthorized")


@pytest.mark.parametrize("status", ["waiting", "in_progress", "completed", None])
def test_a_job_that_does_not_wait_for_a_runner_gets_none(status: str | None) -> None:
    assert "needs no runner" in refused(REQUESTED | {"status": status})


def test_more_requests_than_the_deployment_allows_are_refused() -> None:
    assert LOCAL.runner_requests_at_most == 5
    relaunched(REQUESTED | {"runner_requests": 5})
    assert "runner_requests_at_most" in refused(REQUESTED | {"runner_requests": 6})


@pytest.mark.parametrize(("request_number", "minutes"), [(1, 10), (2, 20), (3, 40), (5, 160)])
def test_a_request_is_valid_until_the_next_one_may_be_made(request_number: int, minutes: int) -> None:
    """Otherwise a launcher that was down would start two machines for one job."""
    sent_at = now()
    job = REQUESTED | {"runner_requests": request_number}
    too_early, late = (times.earlier(sent_at, seconds=minutes * 60 + each) for each in (-5, 5))
    relaunched(job | {"runner_requested_at": too_early})
    assert "too old" in refused(job | {"runner_requested_at": late}, sent_at=sent_at)


@pytest.mark.parametrize("name", ["job_id", "run_id", "repo_full_name", "labels"])
def test_a_job_without_what_a_launcher_needs_is_refused(name: str) -> None:
    assert name in refused({key: value for key, value in REQUESTED.items() if key != name})


@pytest.mark.parametrize("name", ["octocat_acme/api", "acme-/.github", "a/..."])
def test_every_name_that_webhooks_may_have_is_valid(name: str) -> None:
    """Managed users have an underscore in their names."""
    assert json.loads(relaunched(REQUESTED | {"repo_full_name": name}).body)["repository"]["full_name"] == name


@pytest.mark.parametrize("name", ["acme", "acme/a/b", "acme/../x", "a b/c", "acme/storefront\r\n"])
def test_a_repository_with_an_invalid_name_is_refused(name: str) -> None:
    assert "repository" in refused(REQUESTED | {"repo_full_name": name})


def test_a_repository_of_a_managed_user_is_relaunched() -> None:
    """Names of managed users have an underscore."""
    sent = relaunched(REQUESTED | {"repo_full_name": "octocat_acme/api"})
    assert json.loads(sent.body)["repository"]["full_name"] == "octocat_acme/api"


def test_data_of_another_form_is_refused() -> None:
    envelope = event("runner.requested", []) | {"data": "text"}
    assert "the job has no job_id" in refused({}, envelope=envelope)


def test_our_own_webhook_is_refused() -> None:
    with receiving(responds(201)) as receiver:
        settings = channel_settings(allow_loopback=True, deployment_urls=(receiver.url,))
        result = opened(RELAUNCH, {"url": receiver.url}, [SECRET], settings=settings).send(
            outgoing("runner.requested", REQUESTED)
        )
    assert (result.outcome, receiver.connections) == (SendOutcome.REFUSED, 0)
