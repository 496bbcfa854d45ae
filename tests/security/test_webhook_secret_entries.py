"""Entries of the webhook secrets: one with a mistake is not active, and a change takes effect without a deployment."""

import io
import json

import pytest
from runledger.platform import logs

from tests.functions.conftest import World
from tests.security.webhook_secrets import MINE, deliver, job, scoped, status, store
from tests.support import messages
from tests.support.log_lines import lines, metrics, written
from tests.support.webhooks import INSTALLATION, REPO


def test_a_malformed_entry_of_the_app_does_not_hand_its_installations_to_other_secrets(world: World) -> None:
    store(world, {"current": MINE, "app": {"secret": "", "app": True}})
    assert status(world, job()) == 403
    store(world, {"current": MINE, "app": {"secret": "the App's", "app": "yes"}})
    assert status(world, job()) == 403
    assert status(world, job(), "the App's") == 401


MALFORMED = [
    "",
    "   ",
    None,
    17,
    True,
    [MINE],
    {},
    {"secret": MINE},
    {"secret": MINE, "app": False},
    {"secret": "", "app": True},
    {"secret": None, "app": True},
    {"secret": [MINE], "installations": [INSTALLATION]},
    {"installations": [INSTALLATION]},
    {"secret": MINE, "app": "true"},
    {"secret": MINE, "app": 1},
    {"secret": MINE, "app": None},
    {"secret": MINE, "installations": []},
    {"secret": MINE, "installations": None},
    {"secret": MINE, "installations": INSTALLATION},
    {"secret": MINE, "installations": [str(INSTALLATION)]},
    {"secret": MINE, "installations": [INSTALLATION, True]},
    {"secret": MINE, "installations": [INSTALLATION, -1]},
    {"secret": MINE, "installations": "*"},
    {"secret": MINE, "repositories": []},
    {"secret": MINE, "repositories": None},
    {"secret": MINE, "repositories": REPO},
    {"secret": MINE, "repositories": ["*"]},
    {"secret": MINE, "repositories": ["*/*"]},
    {"secret": MINE, "repositories": [f"*/{REPO.partition('/')[2]}"]},
    {"secret": MINE, "repositories": [REPO, 1]},
    {"secret": MINE, "repositories": [f"{REPO}*"]},
    {"secret": MINE, "repositories": [f" {REPO}"]},
    {"secret": MINE, "repositories": [f"{REPO}\n"]},
    {"secret": MINE, "repositories": ["ac.me/web"]},
    {"secret": MINE, "repositories": ["acme/.."]},
    {"secret": MINE, "installations": [INSTALLATION], "repositories": []},
    {"secret": MINE, "repository": [REPO]},
    {"secret": MINE, "installations": [INSTALLATION], "repos": [REPO]},
]


@pytest.mark.parametrize("entry", MALFORMED, ids=str)
def test_a_malformed_entry_is_never_active_and_the_others_are(
    world: World, entry: object, capsys: pytest.CaptureFixture[str]
) -> None:
    store(world, {"mine": entry, "hooks": {"secret": "of the hooks", "installations": [0]}})
    for installation in (INSTALLATION, None):
        assert status(world, job(installation)) == 401
    assert status(world, job(None), "of the hooks") == 202
    logged = written(capsys)
    (ignored,) = [line for line in logged if line["message"] == "webhook secret ignored"]
    assert (ignored["level"], ignored["entry"], ignored["InvalidWebhookSecrets"]) == ("ERROR", "mine", 1)
    assert MINE not in json.dumps(logged)


@pytest.mark.parametrize("stored", ["{", "null", "[]", f'"{MINE}"', json.dumps([MINE])])
def test_a_document_that_is_no_object_activates_no_secret(
    world: World, stored: str, capsys: pytest.CaptureFixture[str]
) -> None:
    store(world, stored)
    assert status(world, job()) == 401
    assert status(world, job(), "") == 401
    logged = capsys.readouterr().out
    assert metrics(lines(logged)) == {"InvalidWebhookSecrets": 1}
    assert MINE not in logged


def test_a_refusal_names_what_the_secret_is_not_valid_for(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    store(world, scoped(repositories=["acme/web"]))
    response = deliver(world, job())
    problem = json.loads(response["body"])
    assert (response["headers"]["content-type"], problem["status"]) == ("application/problem+json", 403)
    assert f"workflow_job deliveries of repository {REPO} of installation {INSTALLATION}" in problem["detail"]
    assert "acme" not in problem["detail"]
    (line,) = written(capsys)
    assert metrics([line]) == {"DeliveriesOutOfScope": 1}
    assert (line["message"], line["level"], line["reason"]) == ("delivery rejected", "WARNING", problem["detail"])
    assert line["correlation_id"] == "guid of workflow_job"


def test_other_refusals_are_not_counted_as_out_of_scope(
    world: World, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    log = io.StringIO()
    monkeypatch.setattr(logs.logger.registered_handler, "stream", log)
    store(world, scoped(app=True))
    assert status(world, job(), "unknown") == 401
    assert metrics(written(capsys)) == {}
    assert [line["message"] for line in lines(log.getvalue())] == ["delivery rejected"]


def test_a_scope_that_was_just_widened_works_at_its_first_use(world: World) -> None:
    now = 0.0
    store(world, scoped(repositories=["acme/web"]))
    world.start("webhook_intake").intake.secrets._clock = lambda: now
    assert status(world, job(None)) == 403
    limits = {"repositories": ["acme/web", REPO]}
    world.secrets.put_secret_value(SecretId=world.secret_arn, SecretString=json.dumps(scoped(**limits)))
    now = 9.0  # secrets are read every ten seconds at most
    assert status(world, job(None)) == 403
    now = 11.0
    assert status(world, job(None)) == 202


def test_a_secret_that_was_narrowed_is_refused_within_five_minutes(world: World) -> None:
    now = 0.0
    store(world, {"mine": MINE})
    world.start("webhook_intake").intake.secrets._clock = lambda: now
    assert status(world, job()) == 202
    limits = {"repositories": ["acme/web"]}
    world.secrets.put_secret_value(SecretId=world.secret_arn, SecretString=json.dumps(scoped(**limits)))
    now = 301.0
    assert status(world, messages.run("requested")) == 403
