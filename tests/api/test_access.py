"""Access: tokens, roles and scopes, for every path of the OpenAPI document."""

import io
import json
from collections.abc import Iterator
from typing import Any

from runledger.recording.ledger import Ledger
from runledger_api.authentication import FRESH_SECONDS, Tokens

from tests.api.client import TOKENS, Client, stored
from tests.api.conftest import ELSEWHERE, Live
from tests.functions.conftest import World
from tests.support.runner_events import INSTANCE
from tests.support.webhooks import DEPLOYMENT, INSTALLATION, JOB, REPO, RUN

VALUES = {
    "installation_id": INSTALLATION,
    "job_id": JOB,
    "run_id": RUN,
    "deployment_id": DEPLOYMENT,
    "runner_id": INSTANCE,
    "pass_id": "any",
    "delivery_id": "1",
    "event_id": "0" * 32,
    "name": "a-consumer",
    "subscription_id": "0" * 32,
    "message_id": "0" * 32,
    "owner": "acme",
    "repository": "ui",
    "package": "ui",
    "version": "1.0.0",
    "sha256": "0" * 64,
}
QUERIES = {"listJobs": {"repo": REPO}, "lookUpJob": {"url": f"https://github.com/{REPO}/actions/runs/{RUN}/job/{JOB}"}}
FEED = f"/v1/installations/{INSTALLATION}/feed"  # off here: see test_feed.py
OFF_HERE = (
    *(FEED, f"/v1/installations/{INSTALLATION}/subscriptions", f"/v1/installations/{INSTALLATION}/messages"),
    f"/v1/installations/{INSTALLATION}/notifications",
    *(f"/v1/installations/{INSTALLATION}/{kind}" for kind in ("heads", "environments", "dora", "builds", "files")),
    *(f"/v1/installations/{INSTALLATION}/{kind}" for kind in ("packages", "releases")),
)
OF_THE_CALLER = {"/v1/me"}


def operations(api: Client) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Method, path and query of everything in the OpenAPI document."""
    paths = api.get("/openapi.json").body["paths"]
    assert len(paths) > 15
    for path, methods in paths.items():
        for method, operation in methods.items():
            yield method.upper(), path.format(**VALUES), QUERIES.get(operation["operationId"], {})


def test_without_a_known_token_everything_is_401(api: Client) -> None:
    for method, path, query in operations(api):
        for token in (None, "", "wrong", TOKENS["reader"] + "x"):
            response = api.with_token(token).request(method, path, query=query)
            assert (response.status, response.body["title"]) == (401, "Unauthorized"), (method, path, token)
            assert response.headers["WWW-Authenticate"].startswith("Bearer")


def test_a_reader_can_do_no_admin_action(api: Client, live: Live) -> None:
    live(JOB)
    reader = api.with_token(TOKENS["reader"])
    acted = [(method, path) for method, path, _ in operations(api) if method != "GET"]
    assert len(acted) == 17
    for method, path in acted:
        response = reader.request(method, path)
        assert response.status == 403, path
        is_published = method == "PUT" or (method == "POST" and path.startswith(FEED))
        role = "publisher" if is_published else "operator"
        assert response.body["detail"] == f"The caller rita has the role reader; this request requires the role {role}"


def test_a_reader_may_read_everything(api: Client, live: Live) -> None:
    live(JOB)
    for method, path, query in operations(api):
        if method == "GET" and "reconciliation/any" not in path and not path.startswith(OFF_HERE):
            assert api.with_token(TOKENS["reader"]).get(path, **query).status == 200, path


def test_a_token_for_one_installation_sees_nothing_of_another(api: Client, ledger: Ledger, live: Live) -> None:
    live(JOB)
    ledger.installations.register(
        installation_id=ELSEWHERE, org_name="elsewhere", repo_full_name=None, first_seen_at="2025-01-15T10:00:00.000Z"
    )
    scoped = api.with_token(TOKENS["scoped"])
    for method, path, query in operations(api):
        response = scoped.request(method, path, query=query)
        text = json.dumps(response.body)
        if path not in OF_THE_CALLER:
            assert REPO not in text, path
            assert str(JOB) not in text.replace(f"no job {JOB}", ""), path
        if "/installations/" in path:
            assert response.status == 404, path
            assert response.body["detail"] == f"Installation {INSTALLATION} was not found"
        else:
            assert response.status in (200, 403, 404), path


def test_an_installation_that_does_not_exist_looks_like_one_that_may_not_be_seen(api: Client, live: Live) -> None:
    live(JOB)
    path = f"/v1/installations/{INSTALLATION}/counts"
    hidden = api.with_token(TOKENS["scoped"]).get(path)
    unknown = api.get(path.replace(str(INSTALLATION), "999"))
    assert (hidden.status, unknown.status) == (404, 404)
    assert hidden.body["detail"].replace(str(INSTALLATION), "999") == unknown.body["detail"]


def test_a_token_for_one_installation_sees_that_one(api: Client, live: Live) -> None:
    live(JOB, installation_id=ELSEWHERE)
    live(JOB)
    scoped = api.with_token(TOKENS["scoped"])
    assert [each["installation_id"] for each in scoped.get("/v1/installations").body["items"]] == [ELSEWHERE]
    assert scoped.get(f"/v1/installations/{ELSEWHERE}/jobs/{JOB}").status == 200
    found = scoped.get("/v1/jobs/lookup", url=f"https://github.com/{REPO}/actions/runs/{RUN}")
    assert found.body["installation_id"] == ELSEWHERE


def test_what_concerns_all_installations_is_refused_to_a_token_for_one(api: Client) -> None:
    for path in ("/admin/dead-letters", "/admin/reconciliation"):
        response = api.with_token(TOKENS["scoped"]).get(path)
        assert response.status == 403
        assert "limited to some installations" in response.body["detail"]


def test_me_returns_the_name_role_and_scope_of_the_token(api: Client) -> None:
    assert api.get("/v1/me").body == {
        "id": "token:olga",
        "name": "olga",
        "role": "operator",
        "installations": None,
        "feed": False,
        "notifications": False,
        "releases": False,
    }
    scoped = api.with_token(TOKENS["scoped"]).get("/v1/me").body
    installations = [ELSEWHERE]
    assert scoped == {
        "id": "token:sven",
        "name": "sven",
        "role": "operator",
        "installations": installations,
        "feed": False,
        "notifications": False,
        "releases": False,
    }


def test_an_admin_action_is_in_the_log_with_who_did_it(api: Client, pass_requests: list[Any], log: io.StringIO) -> None:
    assert api.post("/admin/reconciliation/run").status == 202
    lines = [json.loads(line) for line in log.getvalue().splitlines() if '"admin action"' in line]
    assert [(line["caller"], line["path"], line["status"]) for line in lines] == [
        ("token:olga", "/admin/reconciliation/run", 202)
    ]
    assert len(pass_requests) == 1


def test_a_token_is_never_logged(api: Client, log: io.StringIO) -> None:
    api.post("/admin/webhooks/1/redeliver")
    api.with_token("an-unknown-secret").get("/v1/me")
    assert "access denied" in log.getvalue()
    assert not [secret for secret in (*TOKENS.values(), "an-unknown-secret") if secret in log.getvalue()]


class Minutes:
    """A manual clock."""

    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def test_a_revoked_token_is_refused_within_a_minute_and_without_a_deploy(world: World) -> None:
    secret = world.secrets.create_secret(Name="t", SecretString=json.dumps(stored()))["ARN"]
    clock = Minutes()
    tokens = Tokens(world.secrets, secret, clock=clock)
    assert tokens.caller(TOKENS["reader"])
    world.secrets.put_secret_value(SecretId=secret, SecretString=json.dumps({"tokens": []}))
    clock.seconds = FRESH_SECONDS - 1
    assert tokens.caller(TOKENS["reader"])
    clock.seconds = FRESH_SECONDS + 1
    assert tokens.caller(TOKENS["reader"]) is None


def test_a_mistyped_entry_locks_out_no_other_token(world: World) -> None:
    value = stored()
    value["tokens"][0]["role"] = "king"
    value["tokens"][2]["installations"] = ["all"]
    value["tokens"] += ["nonsense", {"name": "no hash", "role": "reader"}]
    secret = world.secrets.create_secret(Name="t", SecretString=json.dumps(value))["ARN"]
    tokens = Tokens(world.secrets, secret, clock=Minutes())
    assert [bool(tokens.caller(TOKENS[role])) for role in ("operator", "reader", "scoped")] == [False, True, False]
