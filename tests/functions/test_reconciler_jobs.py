"""Jobs that are stuck, or that we know less of than GitHub does."""

from typing import Any

import pytest

from tests.functions.reconciling import Scene, ago, queued
from tests.webhooks import IN_PROGRESS, QUEUED, RUN, WAITING


def ended(**about: Any) -> dict[str, Any]:
    return {
        "conclusion": "success",
        "started_at": ago(minutes=40),
        "completed_at": ago(minutes=30),
        "runner_id": 9,
        "runner_name": "a-runner",
        **about,
    }


def test_a_job_whose_end_was_never_heard_of_is_healed_with_what_changed(scene: Scene) -> None:
    scene.hear(IN_PROGRESS, 1, started_at=ago(minutes=40))
    scene.on_github(1, "completed", **ended())
    answer = scene.reconcile()
    job = scene.job(1)
    assert (job["status"], job["conclusion"], job["usage_in_seconds"]) == ("completed", "success", 600)
    line = scene.history(1)[-1]
    assert (line["event_type"], line["source"], line["action"]) == (
        *("job_reconciled", "internal"),
        "completed (success) on GitHub",
    )
    assert line["changes"]["status"] == {"from": "in_progress", "to": "completed"}
    assert answer["summary"]["jobs_healed"] == 1
    assert "in_progress here, completed (success) on GitHub; healed" in answer["text"]


def test_healing_again_changes_nothing(scene: Scene) -> None:
    scene.hear(IN_PROGRESS, 1, started_at=ago(minutes=40))
    scene.on_github(1, "completed", **ended())
    scene.reconcile()
    before, lines = scene.job(1), len(scene.history(1))
    assert scene.reconcile()["summary"]["jobs_healed"] == 0
    assert (scene.job(1), len(scene.history(1))) == (before, lines)


def test_what_github_learnt_a_moment_ago_is_left_to_its_webhook(scene: Scene) -> None:
    scene.hear(IN_PROGRESS, 1, started_at=ago(minutes=40))
    scene.on_github(1, "completed", **ended(completed_at=ago(seconds=20)))
    assert scene.reconcile()["summary"]["jobs_healed"] == 0


def test_a_quick_pass_asks_only_about_jobs_that_are_stuck(scene: Scene) -> None:
    scene.hear(IN_PROGRESS, 1, started_at=ago(minutes=40))
    scene.on_github(1, "completed", **ended())
    assert scene.reconcile("quick")["summary"]["runs_asked"] == 0
    scene.hear(QUEUED, 2)
    assert scene.reconcile("quick")["summary"]["runs_asked"] == 1


def test_a_run_is_one_call_however_many_jobs_it_has(scene: Scene) -> None:
    for job_id in range(1, 31):
        queued(scene, job_id)
    before = scene.calls("jobs")
    answer = scene.reconcile()
    assert answer["summary"]["stuck_queued"] == 30
    assert scene.calls("jobs") - before == 1


def test_for_a_job_that_is_queued_without_a_runner_one_is_requested_and_counted(scene: Scene) -> None:
    queued(scene, 1)
    assert scene.reconcile("quick")["summary"]["runners_requested"] == 1
    job = scene.job(1)
    assert (job["status"], job["runner_requests"]) == ("queued", 1)
    line = scene.history(1)[-1]
    assert (line["event_type"], line["action"]) == ("runner_requested", "request 1")


def test_the_next_request_waits_for_a_pause(scene: Scene) -> None:
    queued(scene, 1)
    scene.reconcile("quick")
    assert scene.reconcile("quick")["summary"]["runners_requested"] == 0


def test_a_scheduled_job_whose_runner_is_gone_goes_back_to_the_queue(scene: Scene) -> None:
    queued(scene, 1)
    instance = scene.start_instance()
    scene.launch(1, instance)
    scene.world.client("ec2").terminate_instances(InstanceIds=[instance])
    scene.reconcile("quick")
    job = scene.job(1)
    assert job["status"] == "queued"
    assert "instance_id" not in job
    line = scene.history(1)[-1]
    assert line["changes"]["status"] == {"from": "scheduled", "to": "queued"}
    assert line["changes"]["instance_id"] == {"from": instance}


def test_a_scheduled_job_whose_runner_lives_is_left_alone(scene: Scene) -> None:
    queued(scene, 1)
    scene.launch(1, scene.start_instance())
    answer = scene.reconcile("quick")
    assert (answer["summary"]["stuck_scheduled"], answer["summary"]["runners_requested"]) == (1, 0)
    assert scene.job(1)["status"] == "scheduled"


def test_a_job_that_github_does_not_know_is_closed_with_the_reason(scene: Scene) -> None:
    scene.hear(QUEUED, 1)
    scene.on_github(2, "in_progress", started_at=ago(minutes=1))
    scene.reconcile("quick")
    job = scene.job(1)
    assert (job["status"], job["conclusion"]) == ("completed", "cancelled")
    assert scene.history(1)[-1]["action"] == "unknown to GitHub"


def test_jobs_of_a_run_that_github_does_not_know_are_closed_too(scene: Scene) -> None:
    scene.hear(QUEUED, 1, run_id=RUN + 1)
    assert scene.reconcile("quick")["summary"]["jobs_closed"] == 1


def test_a_long_running_job_with_a_living_runner_is_shown_and_left_alone(scene: Scene) -> None:
    started = ago(hours=7)
    scene.hear(IN_PROGRESS, 1, created_at=ago(hours=8), started_at=started)
    scene.on_github(1, "in_progress", created_at=ago(hours=8), started_at=started)
    answer = scene.reconcile("quick")
    assert (answer["summary"]["stuck_in_progress"], answer["summary"]["long_running_jobs"]) == (1, 1)
    assert scene.job(1)["status"] == "in_progress"


def test_an_approval_that_came_without_our_hearing_of_it_is_healed(scene: Scene) -> None:
    scene.hear(WAITING, 1, created_at=ago(days=3))
    scene.on_github(1, "queued", created_at=ago(days=3))
    scene.reconcile("quick")
    assert scene.job(1)["status"] == "queued"


def test_a_job_that_was_never_heard_of_is_taken_in_with_its_runs_counters(scene: Scene) -> None:
    scene.hear(QUEUED, 1)
    scene.on_github(1, "queued")
    scene.on_github(2, "in_progress", name="test", started_at=ago(minutes=20), runner_id=9, runner_name="a-runner")
    assert scene.reconcile()["summary"]["jobs_discovered"] == 1
    job = scene.job(2)
    assert (job["status"], job["job_name"], job["run_id"]) == ("in_progress", "test", RUN)
    assert [line["event_type"] for line in scene.history(2)] == ["job_reconciled"]


def test_a_run_that_is_over_is_not_asked_again(scene: Scene) -> None:
    scene.hear(IN_PROGRESS, 1, started_at=ago(minutes=40))
    scene.on_github(1, "completed", **ended())
    scene.reconcile()
    assert scene.reconcile()["summary"]["runs_asked"] == 0


@pytest.mark.parametrize("kind", ["quick", "full"])
def test_a_run_of_which_no_attempt_was_told_is_the_first(scene: Scene, kind: str) -> None:
    scene.launch(1, scene.start_instance(), run_attempt=None)
    scene.on_github(1, "completed", conclusion="success", started_at=ago(minutes=50), completed_at=ago(minutes=40))
    answer = scene.reconcile(kind)
    assert (answer["outcome"], answer["summary"]["jobs_healed"]) == ("success", 1)


def test_one_failing_run_stops_no_other(scene: Scene) -> None:
    scene.github.state.put("runs", RUN + 1, repository="lineville/elastic-machines-testing")
    scene.hear(IN_PROGRESS, 1, started_at=ago(minutes=40))
    scene.on_github(1, "completed", **ended())
    scene.hear(IN_PROGRESS, 2, started_at=ago(minutes=40), run_id=RUN + 1)
    path = f"*/actions/runs/{RUN + 1}/*"
    scene.github.state.add_fault(kind="error", status=403, path=path, times=None)
    answer = scene.reconcile()
    assert (answer["outcome"], answer["summary"]["errors"], answer["summary"]["jobs_healed"]) == ("errors", 1, 1)


def test_without_an_app_stuck_jobs_are_counted_and_left_alone(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = scene.world.secrets.create_secret(Name="none", SecretString="{}")["ARN"]
    monkeypatch.setenv("GITHUB_APP", secret)
    scene.hear(QUEUED, 1)
    answer = scene.reconcile()
    assert (answer["outcome"], answer["summary"]["stuck_queued"]) == ("success", 1)
    assert scene.job(1)["status"] == "queued"


def test_githubs_budget_is_left_to_others(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_BUDGET_FOR_OTHERS_PERCENT", "100")
    queued(scene, 1)
    scene.github.state.put("runs", RUN + 1, repository="lineville/elastic-machines-testing")
    scene.hear(QUEUED, 2, run_id=RUN + 1)
    answer = scene.reconcile()
    assert (answer["summary"]["runs_asked"], answer["summary"]["postponed"]) == (0, 2)
