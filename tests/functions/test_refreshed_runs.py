"""A refresh from the dashboard shows that a run has completed, but the next full pass still checks the run."""

import json
from typing import Any

import pytest
from runledger.queries.github_requests import RefreshRun, to_event

from tests.support import messages
from tests.support.beds import items
from tests.support.ledgers import RUNS
from tests.support.reconciler_scene import Scene, ago
from tests.support.runner_events import INSTANCE, batch, interruption, launcher
from tests.support.webhooks import COMPLETED, INSTALLATION, JOB, QUEUED, REPO, RUN, http_event

ENDED = messages.run("completed")
LOST_JOB = JOB + 1
OLD_JOB, OLD_RUN = JOB + 2, RUN + 1
PAST = {"created_at": ago(days=20), "started_at": ago(days=20), "completed_at": ago(days=20)}


def deliver(scene: Scene, message: messages.Message, *, guid: str) -> None:
    event, body = message
    response = scene.world.invoke("webhook_intake", http_event(json.dumps(body).encode(), guid=guid, event=event))
    assert response["statusCode"] == 202


def refresh(scene: Scene) -> dict[str, Any]:
    request = RefreshRun(installation_id=INSTALLATION, run_id=RUN, run_attempt=1)
    assert scene.world.invoke("github_requests", to_event(request))["outcome"] == "done"
    (run,) = items(scene.world.dynamodb, RUNS)
    return run


@pytest.fixture
def interrupted(scene: Scene) -> Scene:
    """Its only job was interrupted, and the webhook of the run's end is lost."""
    scene.receive(QUEUED, JOB)
    scene.world.invoke("scheduling_events", batch(launcher("runner_scheduled")))
    scene.world.invoke("spot_interruption", batch(interruption()))
    scene.receive(COMPLETED, JOB, conclusion="failure")
    scene.on_github(JOB, "completed", conclusion="failure")
    about = {"repository": REPO, "conclusion": "failure", "updated_at": ENDED[1]["workflow_run"]["updated_at"]}
    scene.github.state.put("runs", RUN, status="completed", **about)
    return scene


def test_interrupted_jobs_are_rerun_once_although_a_refresh_reported_the_runs_end(interrupted: Scene) -> None:
    assert refresh(interrupted)["status"] == "completed"
    interrupted.reconcile()
    interrupted.world.invoke("run_retry", {"Records": interrupted.world.waiting("reruns")})
    interrupted.reconcile()
    assert interrupted.world.waiting("reruns") == []
    assert interrupted.calls("rerun-failed-jobs") == 1


def test_a_refreshed_run_is_checked_by_one_pass_and_no_more(interrupted: Scene) -> None:
    refresh(interrupted)
    assert [interrupted.reconcile()["summary"]["runs_asked"] for _ in range(2)] == [1, 0]


def test_the_webhook_of_the_runs_end_makes_the_check_unnecessary(interrupted: Scene) -> None:
    refresh(interrupted)
    deliver(interrupted, ENDED, guid="the run's end")
    assert len(interrupted.world.waiting("reruns")) == 1
    assert interrupted.reconcile()["summary"]["runs_asked"] == 0


def test_a_job_without_webhooks_is_found_in_a_refreshed_run(interrupted: Scene) -> None:
    interrupted.on_github(LOST_JOB, "completed", conclusion="success")
    refresh(interrupted)
    assert interrupted.reconcile()["summary"]["jobs_discovered"] == 1


def test_a_refreshed_run_keeps_its_conclusion_when_the_app_is_uninstalled(interrupted: Scene) -> None:
    refresh(interrupted)
    deliver(interrupted, messages.installation("deleted"), guid="uninstalled")
    del interrupted.github.state.installations[INSTALLATION]
    interrupted.reconcile()
    (run,) = items(interrupted.world.dynamodb, RUNS)
    assert (run["conclusion"], run["by_state"]) == ("failure", f"{INSTALLATION}#done")


def look_up(scene: Scene, run_id: int) -> None:
    request = RefreshRun(installation_id=INSTALLATION, run_id=run_id, run_attempt=0, repo_full_name=REPO)
    assert scene.world.invoke("github_requests", to_event(request))["outcome"] == "done"


@pytest.fixture
def old_run(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> Scene:
    """GitHub has a run that failed weeks ago. The ledger has the installation and its account, but not that run."""
    monkeypatch.setenv("RERUN", "any_failure")
    scene.receive(QUEUED, JOB)
    about = {"repository": REPO, "conclusion": "failure", "updated_at": ago(days=20)}
    scene.github.state.put("runs", OLD_RUN, status="completed", **about)
    scene.on_github(OLD_JOB, "completed", run_id=OLD_RUN, conclusion="failure", **PAST)
    return scene


def reruns_after_a_pass(scene: Scene) -> int:
    scene.reconcile()
    if waiting := scene.world.waiting("reruns"):
        scene.world.invoke("run_retry", {"Records": waiting})
    return scene.calls("rerun-failed-jobs")


def test_looking_up_an_old_failed_run_never_reruns_it(old_run: Scene) -> None:
    """A reader may look up any run of the account, and the ledger doesn't have the environments of its jobs."""
    look_up(old_run, OLD_RUN)
    assert reruns_after_a_pass(old_run) == 0


def test_a_launchers_event_about_an_old_failed_run_never_reruns_it(old_run: Scene) -> None:
    """A launcher can name any run of its installation, and the next full pass requests it from GitHub."""
    old_run.launch(OLD_JOB, INSTANCE, run_id=OLD_RUN)
    assert reruns_after_a_pass(old_run) == 0
    runs = {item["PK"]: item for item in items(old_run.world.dynamodb, RUNS)}
    assert runs[f"{INSTALLATION}#{OLD_RUN}#1"]["conclusion"] == "failure"


def test_a_run_that_failed_today_is_rerun_although_only_a_pass_reports_its_end(old_run: Scene) -> None:
    old_run.github.state.put("runs", OLD_RUN, updated_at=ago(hours=1))
    old_run.launch(OLD_JOB, INSTANCE, run_id=OLD_RUN)
    assert reruns_after_a_pass(old_run) == 1
