"""Credentials: the App calls with a JWT of its key, each installation with a token that is renewed in time."""

import json
from typing import Any

import jwt
import pytest
from runledger_github.app import GitHubApp
from runledger_github.errors import BadCredentials, Refused
from runledger_github.installation import Installation

from local.github.credentials import APP_ID, CLIENT_ID, Credentials
from tests.github.recorded_github import RecordedGitHub
from tests.local.github_client import ManualClock

PEM = "-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----\n"


def test_jwt_names_the_app_starts_in_the_past_and_ends_within_ten_minutes(
    app: GitHubApp, github: RecordedGitHub, clock: ManualClock
) -> None:
    list(app.installations())
    [bearer] = github.bearers
    claims = jwt.decode(bearer, options={"verify_signature": False})
    now = clock().timestamp()
    assert claims == {"iss": str(APP_ID), "iat": now - 60, "exp": now + 540}


def test_jwt_is_kept_until_it_is_about_to_expire(app: GitHubApp, github: RecordedGitHub, clock: ManualClock) -> None:
    for minutes in (0, 7, 1):
        clock.advance(minutes=minutes)
        list(app.installations())
    assert len(github.bearers) == 2


def test_token_is_kept_until_five_minutes_before_it_expires(
    acme: Installation, github: RecordedGitHub, clock: ManualClock
) -> None:
    for minutes, issued in ((0, 1), (54, 1), (1, 2)):
        clock.advance(minutes=minutes)
        list(acme.org_runners("acme"))
        assert github.tokens_issued == issued


def test_each_installation_has_a_token_of_its_own(app: GitHubApp, github: RecordedGitHub) -> None:
    github.state.put("installations", 8, account="globex")
    assert list(app.installation(8).org_runners("globex")) == list(app.installation(7).org_runners("acme")) == []
    assert github.tokens_issued == 2
    assert app.installation(8) is app.installation(8)


@pytest.mark.usefixtures("finished_run")
def test_revoked_token_is_renewed_and_the_call_repeated_even_if_it_changes_something(
    acme: Installation, github: RecordedGitHub, naps: list[float]
) -> None:
    list(acme.org_runners("acme"))
    github.state.credentials._tokens.clear()
    acme.rerun_failed_jobs("acme/web", 1)
    assert github.statuses == [200, 401, 201]
    assert naps == []


def test_token_is_renewed_once_only(acme: Installation, github: RecordedGitHub, naps: list[float]) -> None:
    github.state.add_fault(kind="error", status=401, path="/orgs/*", times=None)
    with pytest.raises(BadCredentials, match="installation 7"):
        list(acme.org_runners("acme"))
    assert (github.statuses, github.tokens_issued, naps) == ([401, 401], 2, [])


def test_suspended_installation_is_refused_in_githubs_words(acme: Installation, github: RecordedGitHub) -> None:
    list(acme.org_runners("acme"))
    github.state.put("installations", 7, suspended_at="2025-01-15T10:00:00Z")
    with pytest.raises(Refused, match="This installation has been suspended"):
        list(acme.org_runners("acme"))


def test_key_that_github_does_not_know_is_refused_at_once(github: RecordedGitHub, naps: list[float]) -> None:
    secret = json.dumps({"app_id": APP_ID, "private_key": Credentials().private_key})
    app = GitHubApp.from_secret(secret, api_url=github.url, clock=lambda: github.state.now().timestamp())
    with pytest.raises(BadCredentials, match="could not be decoded"):
        list(app.installations())
    assert (github.statuses, naps) == ([401], [])


def test_app_may_be_named_by_its_client_id(github: RecordedGitHub, secret: str) -> None:
    named = json.dumps(json.loads(secret) | {"app_id": CLIENT_ID})
    app = GitHubApp.from_secret(named, api_url=github.url, clock=lambda: github.state.now().timestamp())
    assert len(list(app.installations())) == 1


@pytest.mark.parametrize(
    ("stored", "complaint"),
    [
        ("", "secret is empty"),
        (" \n", "secret is empty"),
        ("hunter2", "not a JSON object"),
        ('["hunter2"]', "not a JSON object"),
        ({"private_key": PEM}, "app_id is missing"),
        ({"app_id": "", "private_key": PEM}, "app_id is missing"),
        ({"app_id": 1, "private_key": ""}, "private_key .* is not a PEM"),
        ({"app_id": 1, "private_key": "hunter2"}, "private_key .* is not a PEM"),
    ],
)
def test_secret_that_is_of_no_use_is_named_but_not_shown(stored: Any, complaint: str) -> None:
    text = stored if isinstance(stored, str) else json.dumps(stored)
    with pytest.raises(BadCredentials, match=complaint) as refusal:
        GitHubApp.from_secret(text)
    assert "hunter2" not in str(refusal.value)
    assert '"app_id": 12345' in str(refusal.value)


def test_key_that_is_no_key_is_found_when_it_is_first_used() -> None:
    app = GitHubApp.from_secret(json.dumps({"app_id": 1, "private_key": PEM}))
    with pytest.raises(BadCredentials, match="not an RSA key"):
        list(app.installations())
