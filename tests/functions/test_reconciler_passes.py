"""A pass as a whole: time that runs out, and what is stored and logged."""

import io
import json
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
from runledger.platform import logs
from runledger.reconciliation.passes import Pass
from runledger.reconciliation.reconciler import Reconciler
from runledger.tables.passes import PassesTable, new_pass_id
from runledger_github.state import GitHubState

from tests.support import messages
from tests.support.beds import items
from tests.support.ledgers import RUNNERS, RUNS
from tests.support.log_lines import lines, metrics, written
from tests.support.reconciler_scene import Scene, ago, lose, queued
from tests.support.webhooks import QUEUED, REPO, RUN, http_event


def test_a_pass_that_runs_out_of_time_is_stored_and_the_next_one_continues_where_it_stopped(scene: Scene) -> None:
    queued(scene, 1)
    reconciler = scene.world.start("reconciler")
    hurried = SimpleNamespace(aws_request_id="hurried", get_remaining_time_in_millis=lambda: 1_000)
    response: Any = reconciler.handler({"pass": "full"}, hurried)
    assert response["outcome"] == "unfinished"
    assert response["summary"]["runs_asked"] == 0
    assert "Left for the next pass: jobs, runners, uninstalled, approvals, deliveries" in response["text"]
    again = scene.reconcile()
    assert (again["outcome"], again["summary"]["runs_asked"]) == ("success", 1)


@pytest.mark.parametrize("kind", ["quick", "full"])
@pytest.mark.parametrize("finished", [False, True], ids=["open", "finished, with a job that is open"])
def test_a_pass_that_could_not_request_all_runs_is_continued_by_the_next(
    scene: Scene, kind: str, finished: bool
) -> None:
    runs, begun = [RUN, RUN + 1, RUN + 2], ago(seconds=1)
    for job_id, run_id in enumerate(runs):
        scene.github.state.put("runs", run_id, repository=REPO)
        queued(scene, job_id, run_id=run_id)
        if finished:
            finish(scene, run_id)
    for passes in range(1, len(runs) + 1):
        time_for_one_run = SimpleNamespace(
            aws_request_id=f"hurried {passes}",
            get_remaining_time_in_millis=lambda allowed=passes: 600_000 if scene.calls("/jobs") < allowed else 1_000,
        )
        scene.world.start("reconciler").handler({"pass": kind}, time_for_one_run)
    checked = [item for item in items(scene.world.dynamodb, RUNS) if item.get("checked_at", "") >= begun]
    assert {item["run_id"] for item in checked} == set(runs)


def finish(scene: Scene, run_id: int) -> None:
    """Only the run's completion webhook arrives."""
    _, completed = messages.run("completed", run_id=run_id)
    event = http_event(json.dumps(completed).encode(), guid=f"run {run_id} completed", event="workflow_run")
    assert scene.world.invoke("webhook_intake", event)["statusCode"] == 202


def test_a_part_that_fills_every_pass_starves_no_other(scene: Scene) -> None:
    """Out of time in one part, the next pass begins with the one after it."""
    queued(scene, 1)
    scene.launch(2, scene.start_instance())
    begun = []
    for number in range(4):
        hurried = SimpleNamespace(aws_request_id=f"hurried {number}", get_remaining_time_in_millis=lambda: 1_000)
        response: Any = scene.world.start("reconciler").handler({"pass": "full"}, hurried)
        begun.append(response["text"].partition("Left for the next pass: ")[2].partition(",")[0].partition("\n")[0])
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


def test_a_pass_is_stored_with_its_summary_and_findings(scene: Scene) -> None:
    queued(scene, 1)
    response = scene.reconcile(id=new_pass_id("2025-01-15T10:00:00.000Z"), requested_by="ada")
    (stored,) = [item for item in items(scene.world.dynamodb, RUNNERS) if item["PK"] == "passes"]
    assert stored["SK"] == response["id"]
    assert (stored["pass"], stored["status"], stored["requested_by"]) == ("full", "finished", "ada")
    assert json.loads(stored["summary"]) == response["summary"]
    assert stored["text"] == response["text"]
    assert stored["text"].startswith("Reconciliation (full) - 20")
    assert "Status: ✅ Success" in stored["text"]


def test_a_pass_emits_its_metrics(scene: Scene, capsys: pytest.CaptureFixture[str]) -> None:
    queued(scene, 1)
    capsys.readouterr()
    scene.reconcile()
    logged = written(capsys)
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
    scene.github.state.add_fault(kind="slow", seconds=4, times=None)  # longer than the pass may wait
    left = iter([32_000])  # two seconds before the pass must begin to finish
    context = SimpleNamespace(aws_request_id="hung", get_remaining_time_in_millis=lambda: next(left, 600_000))
    reconciler = scene.world.start("reconciler")
    response: Any = reconciler.handler({"pass": "full", "id": "hung"}, context)
    assert response["summary"]["postponed"] > 0
    (stored,) = [item for item in items(scene.world.dynamodb, RUNNERS) if item["PK"] == "passes"]
    assert (stored["SK"], stored["status"]) == ("hung", "finished")


def test_a_pass_stores_its_summary_if_it_cannot_read_where_the_last_one_ended(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("unreadable")

    scene.receive(QUEUED, 1)
    scene.on_github(1, "completed", conclusion="success")
    monkeypatch.setattr(PassesTable, "first_part", fail)
    response = scene.reconcile()
    assert (response["outcome"], response["summary"]["errors"]) == ("errors", 1)
    assert response["summary"]["jobs_healed"] == 1, "every part runs all the same"
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
    response = scene.reconcile()
    assert response["summary"]["errors"] == 130
    (stored,) = [item for item in items(scene.world.dynamodb, RUNNERS) if item["PK"] == "passes"]
    assert len(json.dumps(stored, default=str)) < 300_000
    assert "more, in the log" in stored["text"]
