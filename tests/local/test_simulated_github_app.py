"""Credentials of the simulated GitHub: the App calls with its JWT, its installations with their tokens."""

from typing import Any

import pytest

from local.github import SimulatedGitHub
from tests.local.github_client import Client, ManualClock, jwt


def test_app_and_installations_are_shown_to_a_valid_jwt(app: Client) -> None:
    assert app.get("/app").document["installations_count"] == 1
    assert [one["account"]["login"] for one in app.get("/app/installations").document] == ["acme"]
    assert app.get("/app/installations/7").document["suspended_at"] is None
    assert app.get("/app/installations/8").status == 404


@pytest.mark.parametrize(
    ("claims", "status", "message"),
    [
        ({"exp": 0}, 401, "must be a numeric value representing the future time"),
        ({"exp": None}, 401, "must be a numeric value representing the future time"),
        ({"exp": 1_736_935_200 + 601}, 401, "is too far in the future"),
        ({"iat": 1_736_935_200 + 5}, 401, "'Issued at' claim ('iat')"),
        ({"iss": "999"}, 404, "Integration not found"),
        ({"algorithm": "none"}, 401, "could not be decoded"),
    ],
)
def test_jwt_with_a_wrong_claim_is_refused(anyone: Client, claims: dict[str, Any], status: int, message: str) -> None:
    reply = anyone.as_app(**claims).get("/app")
    assert reply.status == status
    assert message in reply.document["message"]


def test_jwt_signed_with_another_key_is_refused(github: SimulatedGitHub) -> None:
    stranger = SimulatedGitHub()
    with stranger:
        forged = jwt(github, key=stranger.state.credentials.private_key)
    assert Client(github, forged).get("/app").status == 401


def test_jwt_may_name_the_client_id_as_its_issuer(anyone: Client) -> None:
    client_id = anyone.get("/_simulation/app").document["client_id"]
    assert anyone.as_app(iss=client_id).get("/app").status == 200


def test_token_lives_for_an_hour(acme: Client, clock: ManualClock) -> None:
    clock.advance(minutes=59)
    assert acme.get("/rate_limit").status == 200
    clock.advance(minutes=1)
    assert acme.get("/rate_limit").status == 401


def test_token_lifetime_can_be_switched(anyone: Client, clock: ManualClock) -> None:
    anyone.put("/_simulation/settings", token_lifetime_seconds=5)
    acme = anyone.as_installation(7)
    clock.advance(seconds=5)
    assert acme.get("/rate_limit").document["message"] == "Bad credentials"


def test_suspended_installation_gets_no_token_and_its_old_one_is_dead(acme: Client, app: Client) -> None:
    app.put("/_simulation/installations/7", suspended_at="2025-01-15T10:00:00Z")
    assert app.post("/app/installations/7/access_tokens").status == 403
    assert acme.get("/rate_limit").status == 401
    assert app.get("/app/installations/7").document["suspended_by"]["login"] == "octocat"


def test_each_kind_of_credential_is_accepted_only_by_its_own_endpoints(
    anyone: Client, app: Client, acme: Client
) -> None:
    assert anyone.get("/app").document["message"] == "Requires authentication"
    assert acme.get("/app").status == 401
    assert app.get("/rate_limit").status == 401


def test_removed_installation_is_unknown_and_its_token_is_dead(acme: Client, app: Client) -> None:
    assert app.delete("/_simulation/installations/7").status == 204
    assert app.get("/app/installations/7").status == 404
    assert app.post("/app/installations/7/access_tokens").status == 404
    assert acme.get("/rate_limit").status == 401
    assert app.delete("/_simulation/installations/7").status == 404
    assert app.delete("/_simulation/nothing/7").status == 404
