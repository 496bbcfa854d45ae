"""A pass as a whole: lost webhooks, time that runs out, what is stored and told of it."""

import io
import json
from types import SimpleNamespace
from typing import Any

import pytest
from runledger import telemetry
from runledger.reconciliation.deliveries import PAUSE_GROWTH, PAUSE_SECONDS
from runledger.reconciliation.summary import new_id

from tests.beds import items
from tests.functions.reconciling import Scene, ago, queued
from tests.functions.test_telemetry import lines, metrics
from tests.ledgers import RUNNERS, RUNS
from tests.local.webhook_receiver import WebhookReceiver
from tests.webhooks import QUEUED, REPO, RUN, SECRET, payload


def lose(scene: Scene, guid: str, job_id: int = 1) -> None:
    """GitHub sends it and nobody answers."""
    scene.github.state.configure(webhook_url="http://127.0.0.1:9/", webhook_secret=SECRET)
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
        scene.github.state.configure(webhook_url=receiver.url)
        scene.reconcile()
        scene.github.courier.settle()
    assert [each.headers["x-github-delivery"] for each in receiver.received] == ["lost"]
    assert scene.reconcile()["summary"]["webhooks_lost"] == 0


def test_only_what_is_new_in_the_log_is_read(scene: Scene) -> None:
    for number in range(150):
        lose(scene, f"lost {number}")
    first = scene.reconcile()["summary"]["deliveries_read"]
    assert first == 150
    scene.github.courier.settle()
    assert scene.reconcile()["summary"]["deliveries_read"] == 150  # the redeliveries, which nobody got either


def test_a_pass_that_runs_out_of_time_ends_in_good_order_and_the_next_begins_where_it_stopped(scene: Scene) -> None:
    queued(scene, 1)
    reconciler = scene.world.start("reconciler")
    hurried = SimpleNamespace(aws_request_id="hurried", get_remaining_time_in_millis=lambda: 1_000)
    answer: Any = reconciler.handler({"pass": "full"}, hurried)
    assert answer["outcome"] == "unfinished"
    assert answer["summary"]["runs_asked"] == 0
    assert "Left for the next pass: jobs, runners, approvals, deliveries" in answer["text"]
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
    answer = scene.reconcile(id=new_id("2025-01-15T10:00:00.000Z"), requested_by="ada")
    (stored,) = [item for item in items(scene.world.dynamodb, RUNNERS) if item["PK"] == "passes"]
    assert stored["SK"] == answer["id"]
    assert (stored["pass"], stored["status"], stored["requested_by"]) == ("full", "finished", "ada")
    assert json.loads(stored["summary"]) == answer["summary"]
    assert stored["text"] == answer["text"]
    assert stored["text"].startswith("Reconciliation (full) - 20")
    assert "Status: ✅ Success" in stored["text"]


def test_a_pass_tells_its_metrics(scene: Scene, capsys: pytest.CaptureFixture[str]) -> None:
    queued(scene, 1)
    capsys.readouterr()
    scene.reconcile()
    said = lines(capsys.readouterr().out)
    told = metrics([line for line in said if "kind" not in line])
    assert {
        *("OrphanedRunnersDetected", "OrphanedRunnersCleaned", "OrphanedRunnersOverdue", "OrphanedRunnerRate"),
        *("ReconciliationErrors", "ReconciliationDuration", "JobsHealed", "WebhooksRedelivered"),
        *("LongRunningJobs", "ForgottenApprovals", "RunnersRequested"),
    } <= told.keys()
    stuck = {line["kind"]: line["StuckJobs"] for line in said if "StuckJobs" in line}
    assert stuck == {"queued": 1, "scheduled": 0, "in_progress": 0, "waiting": 0}


def test_an_error_is_logged_once_with_its_item(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    heard = io.StringIO()
    monkeypatch.setattr(telemetry.logger.registered_handler, "stream", heard)
    scene.hear(QUEUED, 1, created_at=ago(hours=2))
    scene.github.state.add_fault(kind="error", status=403, path="*/jobs", times=None)
    scene.reconcile()
    (failed,) = [line for line in lines(heard.getvalue()) if line["message"] == "reconciliation failed"]
    assert failed["item"] == f"run {RUN} of {REPO}"
