"""A webhook reports that an installation was deleted or suspended; only GitHub's response confirms it."""

import json
from datetime import datetime
from itertools import permutations
from types import SimpleNamespace
from typing import Any

import pytest
from runledger.model import times
from runledger.model.reports import InstallationReport, InstallationStatus
from runledger.reconciliation import installations
from runledger.wiring import tables

from tests.support import messages
from tests.support.beds import empty, items
from tests.support.ledgers import JOBS
from tests.support.reconciler_scene import Scene, ago, queued
from tests.support.webhooks import INSTALLATION, REPO, http_event

LONG_AGO = {"days": 3}


def report(
    scene: Scene,
    action: str,
    *,
    changed: str | None = None,
    received: str | None = None,
    installation: int = INSTALLATION,
) -> None:
    """A webhook with a valid signature: genuine, forged or replayed."""
    received = received or ago(minutes=10)
    event, message = messages.installation(action, changed=changed or received)
    message["installation"]["id"] = installation
    at = round(datetime.fromisoformat(received).timestamp() * 1000)
    body = json.dumps(message).encode()
    sent = http_event(body, event=event, guid=f"{action} {received} {installation}", at_epoch_ms=at)
    assert scene.world.invoke("webhook_intake", sent)["statusCode"] == 202


def record(scene: Scene, installation: int = INSTALLATION) -> dict[str, Any]:
    return next(
        item
        for item in items(scene.world.dynamodb, JOBS)
        if (item["PK"], item["SK"]) == ("installations", str(installation))
    )


def delete_on_github(scene: Scene) -> None:
    scene.github.state.remove("installations", INSTALLATION)


def suspend_on_github(scene: Scene, at: str) -> None:
    scene.github.state.put("installations", INSTALLATION, suspended_at=at)


def lookups(scene: Scene) -> int:
    return sum(scene.github.state.calls_by_route().get("GET /app/installations/{installation_id}", {}).values())


def without_app(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    none = scene.world.secrets.create_secret(Name="none", SecretString="{}")["ARN"]
    monkeypatch.setenv("GITHUB_APP", none)


# ---- what GitHub denies is corrected


@pytest.mark.parametrize("kind", ["quick", "full"])
@pytest.mark.parametrize("action", ["deleted", "suspend"])
def test_a_forged_end_is_corrected_and_its_jobs_are_reconciled_in_the_same_pass(
    scene: Scene, action: str, kind: str
) -> None:
    queued(scene, 1)
    report(scene, action)
    response = scene.reconcile(kind)
    assert (response["outcome"], response["summary"]["installations_corrected"]) == ("success", 1)
    assert f"installation {INSTALLATION}: reported as" in response["text"]
    assert "Installations corrected: 1" in response["text"]
    assert record(scene)["status"] == "active"
    assert response["summary"]["runs_asked"] == 1


def test_a_forged_deletion_of_a_suspended_installation_leaves_it_suspended(scene: Scene) -> None:
    suspended_at = ago(**LONG_AGO)
    suspend_on_github(scene, suspended_at)
    report(scene, "deleted")
    scene.reconcile()
    found = record(scene)
    assert (found["status"], found["changed_at"]) == ("suspended", times.normalised(suspended_at))


def test_every_forged_end_is_corrected_however_often_it_is_sent(scene: Scene) -> None:
    scene.github.state.put("installations", INSTALLATION, created_at=ago(**LONG_AGO))
    for minutes in (20, 10):
        report(scene, "deleted", received=ago(minutes=minutes))
        assert scene.reconcile()["summary"]["installations_corrected"] == 1
        assert record(scene)["status"] == "active"


# ---- what GitHub confirms is final


def test_a_deletion_that_github_confirms_is_final_and_github_is_not_called_again(scene: Scene) -> None:
    queued(scene, 1)
    delete_on_github(scene)
    report(scene, "deleted")
    response = scene.reconcile()
    assert (response["outcome"], response["summary"]["installations_confirmed"]) == ("success", 1)
    assert f"installation {INSTALLATION}: deleted, confirmed by GitHub" in response["text"]
    assert response["summary"]["runs_asked"] == 0
    report(scene, "created", received=ago(minutes=1))
    assert record(scene)["status"] == "deleted"
    assert scene.reconcile()["summary"]["installations_confirmed"] == 0
    assert lookups(scene) == 1


def test_a_suspension_that_github_confirms_ends_with_the_next_unsuspend(scene: Scene) -> None:
    suspended_at = ago(minutes=10)
    suspend_on_github(scene, suspended_at)
    report(scene, "suspend", received=suspended_at)
    assert scene.reconcile()["summary"]["installations_confirmed"] == 1
    assert tables.installations().active(unconfirmed_too=True) == []
    report(scene, "unsuspend", received=ago(minutes=5))
    assert tables.installations().active() == [INSTALLATION]


def test_a_suspended_installation_that_is_gone_is_recorded_as_deleted(scene: Scene) -> None:
    delete_on_github(scene)
    report(scene, "suspend")
    assert scene.reconcile()["summary"]["installations_corrected"] == 1
    assert record(scene)["status"] == "deleted"


# ---- before GitHub's response


def test_an_installation_whose_end_is_unconfirmed_is_still_reconciled(scene: Scene) -> None:
    queued(scene, 1)
    report(scene, "deleted")
    scene.github.state.add_fault(kind="error", path="/app/installations/*", times=None)
    assert scene.reconcile()["summary"]["postponed"] > 0
    assert "confirmed_at" not in record(scene)
    scene.github.state.clear_faults()
    assert scene.reconcile()["summary"]["runs_asked"] == 1


def test_an_unconfirmed_end_keeps_its_runners_registrations_in_sight(scene: Scene) -> None:
    """A machine must not look idle because a forged webhook hid where it is registered."""
    queued(scene, 1)
    instance = scene.start_instance()
    scene.github.state.put("runners", 9, scope=REPO, name=f"runner--{instance}", busy=True)
    report(scene, "deleted")
    scene.github.state.add_fault(kind="error", path="/app/installations/*", times=2)
    for _ in range(3):
        scene.reconcile()
    assert scene.state_of(instance) == "running"


def test_an_app_that_github_does_not_know_confirms_nothing(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """GitHub returns 404 for a wrong app_id, as for a deleted installation."""
    app = {"app_id": "999", "private_key": scene.github.state.credentials.private_key}
    typo = scene.world.secrets.create_secret(Name="typo", SecretString=json.dumps(app))["ARN"]
    monkeypatch.setenv("GITHUB_APP", typo)
    report(scene, "deleted")
    response = scene.reconcile()
    assert "confirmed_at" not in record(scene)
    assert (response["outcome"], response["summary"]["installations_confirmed"]) == ("errors", 0)


def test_github_may_be_behind_its_own_webhook_for_two_minutes(scene: Scene) -> None:
    report(scene, "deleted", received=ago(minutes=1))
    assert scene.reconcile()["summary"]["installations_corrected"] == 0
    assert record(scene)["status"] == "deleted"
    delete_on_github(scene)
    assert scene.reconcile()["summary"]["installations_confirmed"] == 1


ACTIVE = InstallationReport(
    installation_id=INSTALLATION,
    status=InstallationStatus.ACTIVE,
    changed_at="2025-01-15T10:00:00.000Z",
    reported_at="2025-01-15T10:00:00.000Z",
)


@pytest.mark.parametrize("confirmed", [None, ACTIVE], ids=["deleted", "active"])
def test_a_response_about_an_earlier_report_does_not_change_a_later_one(
    scene: Scene, confirmed: InstallationReport | None
) -> None:
    report(scene, "suspend", received=ago(minutes=20))
    (unconfirmed,) = tables.installations().unconfirmed()
    report(scene, "deleted", received=ago(minutes=10))
    after = record(scene)
    assert not tables.installations().confirm(unconfirmed, confirmed, at=ago(minutes=5))
    assert record(scene) == after


# ---- without an App


def test_without_an_app_a_reported_end_counts_at_once(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    queued(scene, 1)
    without_app(scene, monkeypatch)
    assert scene.reconcile()["summary"]["stuck_queued"] == 1
    report(scene, "deleted")
    response = scene.reconcile()
    assert (response["summary"]["stuck_queued"], response["summary"]["installations_confirmed"]) == (0, 0)
    assert lookups(scene) == 0


def test_what_was_reported_before_there_was_an_app_is_confirmed_once_there_is(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    report(scene, "deleted")
    with monkeypatch.context() as earlier:
        without_app(scene, earlier)
        scene.reconcile()
    assert scene.reconcile()["summary"]["installations_corrected"] == 1


# ---- in which order reports count


@pytest.mark.parametrize("action", ["created", "unsuspend", "new_permissions_accepted"])
def test_a_later_change_reverses_a_reported_deletion_and_an_older_one_does_not(scene: Scene, action: str) -> None:
    report(scene, "deleted", received=ago(minutes=10))
    report(scene, action, changed=ago(**LONG_AGO), received=ago(minutes=5))
    assert record(scene)["status"] == "deleted"
    report(scene, action, changed=ago(minutes=4), received=ago(minutes=3))
    assert record(scene)["status"] == "active"


def test_a_deletion_beats_everything_that_happened_before_in_whatever_order_it_arrives(scene: Scene) -> None:
    created, unsuspended, deleted = ago(minutes=30), ago(minutes=20), ago(minutes=10)
    # GitHub writes into `updated_at` of a deletion when the installation was last changed before.
    story = {"created": created, "unsuspend": unsuspended, "deleted": unsuspended}
    for order in permutations(story):
        for action in (*order, *order):
            report(scene, action, changed=story[action], received=deleted)
        assert record(scene)["status"] == "deleted"
        empty(scene.world.dynamodb)


@pytest.mark.parametrize("action", ["deleted", "suspend", "created"])
def test_a_change_dated_in_the_future_does_not_outlast_later_reports(scene: Scene, action: str) -> None:
    report(scene, action, changed="2199-01-01T00:00:00Z", received=ago(minutes=10))
    expected = {"deleted": "active", "suspend": "active", "created": "deleted"}[action]
    report(scene, {"created": "deleted"}.get(action, "unsuspend"), received=ago(minutes=5))
    assert record(scene)["status"] == expected


# ---- a flood of reports


def test_a_flood_of_forged_deletions_is_worked_off_and_leaves_time_for_everything_else(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installations, "AT_MOST", 2)
    queued(scene, 1)
    report(scene, "deleted", received=ago(minutes=30))
    for forged in range(1, 4):
        report(scene, "deleted", received=ago(minutes=10 + forged), installation=forged)
    first = scene.reconcile()
    assert (first["summary"]["installations_corrected"], first["summary"]["installations_confirmed"]) == (1, 1)
    assert (first["summary"]["runs_asked"], first["summary"]["postponed"]) == (1, 1)
    assert record(scene)["status"] == "active"  # the longest reported came first
    assert scene.reconcile()["summary"]["installations_confirmed"] == 2


def test_a_pass_without_time_confirms_nothing_and_reports_it(scene: Scene) -> None:
    report(scene, "deleted")
    hurried = SimpleNamespace(aws_request_id="hurried", get_remaining_time_in_millis=lambda: 1_000)
    response: Any = scene.world.start("reconciler").handler({"pass": "quick"}, hurried)
    assert "Left for the next pass: installations, jobs, runners" in response["text"]
    assert lookups(scene) == 0
