"""A pass as a whole: lost webhooks, time that runs out, and what is stored and logged."""

import io
import json
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
from runledger.model.reports import WEBHOOK_PATH
from runledger.platform import logs
from runledger.reconciliation.deliveries import PAUSE_GROWTH, PAUSE_SECONDS, REDELIVERED_AT_MOST
from runledger.reconciliation.passes import Pass
from runledger.reconciliation.reconciler import Reconciler
from runledger.tables.passes import PassesTable, new_pass_id
from runledger_github.app import DeliveryPage, GitHubApp
from runledger_github.errors import NoResponseError
from runledger_github.state import GitHubState

from tests.functions.reconciling import Scene, ago, queued
from tests.functions.test_telemetry import lines, metrics
from tests.local.webhook_receiver import WebhookReceiver
from tests.support.beds import items
from tests.support.ledgers import RUNNERS, RUNS
from tests.support.webhooks import QUEUED, REPO, RUN, SECRET, payload

NOWHERE = f"http://127.0.0.1:9{WEBHOOK_PATH}"


def lose(scene: Scene, guid: str, job_id: int = 1) -> None:
    """GitHub sends it and gets no response."""
    scene.github.state.configure(webhook_url=NOWHERE, webhook_secret=SECRET)
    scene.github.state.add_fault(kind="lost_delivery")
    scene.github.courier.send("workflow_job", payload(QUEUED, job_id=job_id), guid)


def redeliveries(scene: Scene) -> int:
    return scene.calls("attempts")


def test_a_webhook_that_never_arrived_is_redelivered_once_a_pause(scene: Scene) -> None:
    lose(scene, "lost")
    answer = scene.reconcile()
    assert (answer["summary"]["webhooks_lost"], answer["summary"]["webhooks_redelivered"]) == (1, 1)
    assert "delivery lost (workflow_job)" in answer["text"]
    assert scene.reconcile()["summary"]["webhooks_redelivered"] == 0
    assert redeliveries(scene) == 1


def test_one_that_arrived_meanwhile_is_not_lost_any_more(scene: Scene) -> None:
    lose(scene, "lost")
    with WebhookReceiver() as receiver:
        scene.github.state.configure(webhook_url=receiver.url + WEBHOOK_PATH)
        scene.reconcile()
        scene.github.courier.settle()
    assert [each.headers["x-github-delivery"] for each in receiver.received] == ["lost"]
    assert scene.reconcile()["summary"]["webhooks_lost"] == 0


def dated(scene: Scene, **changes: Any) -> None:
    """Changes the newest row of the log."""
    log = scene.github.state.deliveries
    log[-1] = replace(log[-1], **changes)


def lost_guids(scene: Scene) -> set[str]:
    return {item["SK"] for item in items(scene.world.dynamodb, RUNNERS) if item["PK"] == "lost_deliveries"}


def test_only_what_is_new_in_the_log_is_read_with_an_overlap(scene: Scene) -> None:
    for number in range(150):
        lose(scene, f"old {number}")
        dated(scene, delivered_at=ago(hours=2))
    for number in range(10):
        lose(scene, f"lost {number}")
    scene.github.state.add_fault(kind="error", path="*/attempts", times=None)
    assert scene.reconcile()["summary"]["deliveries_read"] == 160
    assert scene.reconcile()["summary"]["deliveries_read"] == 10


def test_a_row_that_appears_late_and_with_a_lower_id_is_read(scene: Scene) -> None:
    lose(scene, "first")
    scene.reconcile()
    lose(scene, "late")
    dated(scene, id=1, delivered_at=ago(minutes=5))
    assert scene.reconcile()["summary"]["webhooks_redelivered"] == 1
    assert lost_guids(scene) == {"first", "late"}


def test_one_page_out_of_order_does_not_end_the_reading(scene: Scene) -> None:
    """Rows of one page are older than what was read before; later pages hold newer ones."""
    lose(scene, "read")
    scene.reconcile()
    for number in range(3):
        lose(scene, f"new {number}")
    for number in range(99):
        lose(scene, f"old {number}")
        dated(scene, delivered_at=ago(hours=5))
    lose(scene, "newest")
    scene.reconcile()
    assert {"new 0", "new 1", "new 2", "newest"} <= lost_guids(scene)


def test_a_cursor_that_github_refuses_is_dropped(scene: Scene) -> None:
    lose(scene, "lost")
    cursor = {"PK": {"S": "delivery_log"}, "SK": {"S": "v"}, "cursor": {"S": "of-last-year"}}
    scene.world.dynamodb.put_item(TableName=RUNNERS, Item=cursor)
    answer = scene.reconcile()
    assert (answer["summary"]["webhooks_redelivered"], answer["summary"]["errors"]) == (1, 0)
    (log,) = [item for item in items(scene.world.dynamodb, RUNNERS) if item["PK"] == "delivery_log"]
    assert "cursor" not in log


def test_a_walk_that_github_interrupts_goes_on_where_it_was(scene: Scene) -> None:
    for number in range(150):
        lose(scene, f"lost {number}")
    scene.github.state.add_fault(kind="error", status=503, path="*/attempts", times=None)
    real = GitHubApp.hook_deliveries

    def interrupted(self: GitHubApp, cursor: str | None = None) -> Iterator[DeliveryPage]:
        for page in real(self, cursor):
            yield page
            raise NoResponseError("GET /app/hook/deliveries: 503", repeatable=True)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(GitHubApp, "hook_deliveries", interrupted)
        scene.reconcile()
    assert len(lost_guids(scene)) == 100
    assert scene.reconcile()["summary"]["deliveries_read"] == 50 + 150  # the rest, then what is new with its overlap
    assert len(lost_guids(scene)) == 150


def test_a_success_that_was_read_in_another_walk_than_its_failure_counts(scene: Scene) -> None:
    lose(scene, "lost")
    scene.reconcile()
    with WebhookReceiver() as receiver:
        scene.github.state.configure(webhook_url=receiver.url + WEBHOOK_PATH)
        scene.github.courier.redeliver(scene.github.state.deliveries[0])
        scene.github.courier.settle()
    failures = [row for row in scene.github.state.deliveries if row.status_code != 200]
    scene.reconcile()
    scene.github.state.deliveries[:] = failures
    assert scene.reconcile()["summary"]["webhooks_lost"] == 0


def test_failures_of_another_applications_webhook_are_not_redelivered(scene: Scene) -> None:
    lose(scene, "lost")
    scene.github.state.configure(webhook_url="https://launcher.example.com/webhook")
    answer = scene.reconcile()
    assert (answer["summary"]["webhooks_lost"], redeliveries(scene)) == (0, 0)
    assert "https://launcher.example.com/webhook, does not end with /webhooks/github" in answer["text"]


def test_a_pass_after_a_long_outage_does_not_send_everything_at_once(scene: Scene) -> None:
    for number in range(REDELIVERED_AT_MOST + 5):
        lose(scene, f"lost {number}")
    first = scene.reconcile()["summary"]
    assert (first["webhooks_redelivered"], first["postponed"]) == (REDELIVERED_AT_MOST, 5)
    assert scene.reconcile()["summary"]["webhooks_redelivered"] == 5


def test_a_pass_that_runs_out_of_time_ends_in_good_order_and_the_next_begins_where_it_stopped(scene: Scene) -> None:
    queued(scene, 1)
    reconciler = scene.world.start("reconciler")
    hurried = SimpleNamespace(aws_request_id="hurried", get_remaining_time_in_millis=lambda: 1_000)
    answer: Any = reconciler.handler({"pass": "full"}, hurried)
    assert answer["outcome"] == "unfinished"
    assert answer["summary"]["runs_asked"] == 0
    assert "Left for the next pass: jobs, runners, uninstalled, approvals, deliveries" in answer["text"]
    again = scene.reconcile()
    assert (again["outcome"], again["summary"]["runs_asked"]) == ("success", 1)


@pytest.mark.parametrize("kind", ["quick", "full"])
def test_a_pass_that_could_not_ask_about_all_runs_is_continued_by_the_next(scene: Scene, kind: str) -> None:
    runs = [RUN, RUN + 1, RUN + 2]
    for job_id, run_id in enumerate(runs):
        scene.github.state.put("runs", run_id, repository=REPO)
        queued(scene, job_id, run_id=run_id)
    for passes in range(1, len(runs) + 1):
        time_for_one_run = SimpleNamespace(
            aws_request_id=f"hurried {passes}",
            get_remaining_time_in_millis=lambda asked=passes: 600_000 if scene.calls("/jobs") < asked else 1_000,
        )
        scene.world.start("reconciler").handler({"pass": kind}, time_for_one_run)
    assert {item["run_id"] for item in items(scene.world.dynamodb, RUNS) if "checked_at" in item} == set(runs)


def test_a_part_that_fills_every_pass_starves_no_other(scene: Scene) -> None:
    """Out of time in one part, the next pass begins with the one after it."""
    queued(scene, 1)
    scene.launch(2, scene.start_instance())
    begun = []
    for number in range(4):
        hurried = SimpleNamespace(aws_request_id=f"hurried {number}", get_remaining_time_in_millis=lambda: 1_000)
        answer: Any = scene.world.start("reconciler").handler({"pass": "full"}, hurried)
        begun.append(answer["text"].partition("Left for the next pass: ")[2].partition(",")[0].partition("\n")[0])
    assert begun == ["jobs", "runners", "jobs", "runners"]


def test_every_part_gets_its_turn_if_every_pass_ends_early(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    names, started = ["first", "second", "third"], []

    def run_out_of_time(name: str, _: Pass) -> bool:
        started.append(name)
        return False

    monkeypatch.setattr(Reconciler, "_parts", lambda *_: {name: partial(run_out_of_time, name) for name in names})
    for _ in range(4):
        assert scene.reconcile("quick")["outcome"] == "unfinished"
    assert started == ["first", "second", "third", "first"]


def test_a_redelivery_that_github_did_not_accept_is_no_try(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDELIVERIES_AT_MOST", "1")
    lose(scene, "lost")
    scene.github.state.add_fault(kind="error", path="*/attempts", times=None)
    for _ in range(3):
        assert scene.reconcile()["summary"]["webhooks_redelivered"] == 0
    scene.github.state.clear_faults()
    assert scene.reconcile()["summary"]["webhooks_redelivered"] == 1


def test_redeliveries_are_spread_over_most_of_the_three_days() -> None:
    pauses = [PAUSE_SECONDS * PAUSE_GROWTH**number for number in range(5)]
    assert 48 < sum(pauses) / 3600 < 72


def test_a_pass_is_stored_with_its_summary_and_findings(scene: Scene) -> None:
    queued(scene, 1)
    answer = scene.reconcile(id=new_pass_id("2025-01-15T10:00:00.000Z"), requested_by="ada")
    (stored,) = [item for item in items(scene.world.dynamodb, RUNNERS) if item["PK"] == "passes"]
    assert stored["SK"] == answer["id"]
    assert (stored["pass"], stored["status"], stored["requested_by"]) == ("full", "finished", "ada")
    assert json.loads(stored["summary"]) == answer["summary"]
    assert stored["text"] == answer["text"]
    assert stored["text"].startswith("Reconciliation (full) - 20")
    assert "Status: ✅ Success" in stored["text"]


def test_a_pass_emits_its_metrics(scene: Scene, capsys: pytest.CaptureFixture[str]) -> None:
    queued(scene, 1)
    capsys.readouterr()
    scene.reconcile()
    logged = lines(capsys.readouterr().out)
    emitted = metrics([line for line in logged if "kind" not in line])
    assert {
        *("OrphanedRunnersDetected", "OrphanedRunnersCleaned", "OrphanedRunnersOverdue", "PassesSucceeded"),
        *("ReconciliationErrors", "ReconciliationDuration", "JobsHealed", "WebhooksRedelivered"),
        *("LongRunningJobs", "ForgottenApprovals", "RunnersRequested"),
    } <= emitted.keys()
    stuck = {line["kind"]: line["StuckJobs"] for line in logged if "StuckJobs" in line}
    assert stuck == {"queued": 1, "scheduled": 0, "in_progress": 0, "waiting": 0}


def test_an_error_is_logged_once_with_its_item(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    log = io.StringIO()
    monkeypatch.setattr(logs.logger.registered_handler, "stream", log)
    scene.receive(QUEUED, 1, created_at=ago(hours=2))
    scene.github.state.add_fault(kind="error", status=403, path="*/jobs", times=None)
    scene.reconcile()
    (failed,) = [line for line in lines(log.getvalue()) if line["message"] == "reconciliation failed"]
    assert failed["item"] == f"run {RUN} of {REPO}"


def test_a_pass_ends_in_time_and_stores_its_summary_even_when_github_hangs(scene: Scene) -> None:
    queued(scene, 1)
    lose(scene, "lost")
    scene.github.state.add_fault(kind="slow", seconds=4, times=None)
    left = iter([32_000])  # two seconds before the pass must begin to finish
    context = SimpleNamespace(aws_request_id="hung", get_remaining_time_in_millis=lambda: next(left, 600_000))
    reconciler = scene.world.start("reconciler")
    began = time.monotonic()
    answer: Any = reconciler.handler({"pass": "full", "id": "hung"}, context)
    assert time.monotonic() - began < 4
    assert answer["summary"]["postponed"] > 0
    (stored,) = [item for item in items(scene.world.dynamodb, RUNNERS) if item["PK"] == "passes"]
    assert (stored["SK"], stored["status"]) == ("hung", "finished")


def test_a_pass_stores_its_summary_if_it_cannot_read_where_the_last_one_ended(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("unreadable")

    monkeypatch.setattr(PassesTable, "first_part", fail)
    answer = scene.reconcile()
    assert (answer["outcome"], answer["summary"]["errors"]) == ("errors", 1)
    (stored,) = [item for item in items(scene.world.dynamodb, RUNNERS) if item["PK"] == "passes"]
    assert stored["outcome"] == "errors"


def test_a_summary_fits_into_an_item_however_long_its_findings_are(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("ü" * 100_000)

    for number in range(1, 131):
        scene.github.state.put("runs", RUN + number, repository=REPO)
        scene.receive(QUEUED, number, run_id=RUN + number)
    monkeypatch.setattr(GitHubState, "jobs", fail)
    answer = scene.reconcile()
    assert answer["summary"]["errors"] == 130
    (stored,) = [item for item in items(scene.world.dynamodb, RUNNERS) if item["PK"] == "passes"]
    assert len(json.dumps(stored, default=str)) < 300_000
    assert "more, in the log" in stored["text"]
