"""One deployment serves one GitHub host: deliveries of another one are refused, and nothing is stored."""

import io
import json
from contextlib import redirect_stdout

import pytest
from runledger.webhooks.hosts import host_of

from tests.functions.conftest import World
from tests.support.beds import items
from tests.support.documents import DOCS, rows, section
from tests.support.ledgers import EVENTS, JOBS
from tests.support.log_lines import lines, metrics
from tests.support.synthesis import Templates, of_type
from tests.support.webhooks import QUEUED, http_event, payload

BODY = json.dumps(payload(QUEUED)).encode()


def respond(
    world: World, monkeypatch: pytest.MonkeyPatch, *, served: str, host: str | None, event: str = "workflow_job"
) -> tuple[int, str]:
    monkeypatch.setenv("GITHUB_HOST", served)
    response = world.invoke("webhook_intake", http_event(BODY, host=host, event=event))
    return int(response["statusCode"]), response["body"]


@pytest.mark.parametrize(
    ("served", "host"),
    [
        ("github.com", None),
        ("github.com", "github.com"),
        ("github.example.com", "github.example.com"),
        ("github.example.com", "GitHub.Example.com:8443"),
        ("acme.ghe.com", None),
        ("acme.ghe.com", "acme.ghe.com"),
        ("127.0.0.1", None),
    ],
)
def test_a_delivery_of_the_served_host_is_recorded(
    world: World, monkeypatch: pytest.MonkeyPatch, served: str, host: str | None
) -> None:
    assert respond(world, monkeypatch, served=served, host=host)[0] == 202


@pytest.mark.parametrize(
    ("served", "host", "problem"),
    [
        ("github.com", "github.example.com", "X-GitHub-Enterprise-Host is github.example.com"),
        ("github.example.com", "other.example.com", "X-GitHub-Enterprise-Host is other.example.com"),
        ("github.example.com", None, "X-GitHub-Enterprise-Host is missing, so this delivery is from github.com"),
        ("127.0.0.1", "github.example.com", "X-GitHub-Enterprise-Host is github.example.com"),
    ],
)
def test_a_delivery_of_another_host_is_refused_with_400_and_counted(
    world: World, monkeypatch: pytest.MonkeyPatch, served: str, host: str | None, problem: str
) -> None:
    printed = io.StringIO()
    with redirect_stdout(printed):
        status, body = respond(world, monkeypatch, served=served, host=host)
    detail = json.loads(body)["detail"]
    assert status == 400
    assert detail.startswith(f"{problem}. This deployment serves {served}: correct the setting github_api_url")
    assert metrics(lines(printed.getvalue())) == {"DeliveriesFromOtherHosts": 1}
    assert [*items(world.dynamodb, JOBS), *items(world.dynamodb, EVENTS)] == []


def test_the_refusal_of_another_host_is_in_the_table_of_responses() -> None:
    meanings = [meaning for status, meaning in rows(section("github-app.md", "Webhook responses")) if status == "400"]
    assert [meaning for meaning in meanings if "another GitHub host" in meaning]
    assert "docs/github-app.md" in (DOCS.parent / "README.md").read_text()


def test_the_ping_of_another_host_is_refused_so_that_the_mistake_is_seen_at_once(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert respond(world, monkeypatch, served="github.com", host="github.example.com", event="ping")[0] == 400


def test_without_a_signature_the_served_host_is_not_revealed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_HOST", "github.example.com")
    response = world.invoke("webhook_intake", http_event(BODY, host="other.example.com", signature="sha256=wrong"))
    assert response["statusCode"] == 401
    assert "github.example.com" not in response["body"]


@pytest.mark.parametrize(
    ("api_url", "host"),
    [
        ("https://api.github.com", "github.com"),
        ("https://api.acme.ghe.com", "acme.ghe.com"),
        ("https://GitHub.example.com:8443/api/v3", "github.example.com"),
        ("https://api.example.com/api/v3", "api.example.com"),
        ("http://127.0.0.1:9090", "127.0.0.1"),
    ],
)
def test_the_served_host_is_that_of_the_api(api_url: str, host: str) -> None:
    assert host_of(api_url) == host


def test_intake_is_given_the_host_of_the_setting(templates: Templates) -> None:
    (host,) = [
        variables["GITHUB_HOST"]
        for function in of_type(templates["api"], "AWS::Lambda::Function").values()
        if "GITHUB_HOST" in (variables := function.get("Environment", {}).get("Variables", {}))
    ]
    assert host == "github.com"
