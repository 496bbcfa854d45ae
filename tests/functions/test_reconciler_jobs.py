"""Jobs are corrected from GitHub's state, with one call per run."""

import json

import pytest
from botocore.exceptions import ClientError

from tests.support import messages
from tests.support.beds import items
from tests.support.ledgers import JOBS, RUNS
from tests.support.reconciler_scene import Scene, ago, ended, launched_without, queued
from tests.support.webhooks import COMPLETED, IN_PROGRESS, INSTALLATION, QUEUED, REPO, RUN, WAITING, http_event


def set_status(scene: Scene, job_id: int, status: str) -> None:
    scene.world.dynamodb.update_item(
        TableName=JOBS,
        Key={"PK": {"S": f"{INSTALLATION}#{job_id}"}, "SK": {"S": "v"}},
        UpdateExpression="SET #status = :status, by_status = :by_status",
        ExpressionAttributeNames={"#status": "status"},
        ExpressionAttributeValues={":status": {"S": status}, ":by_status": {"S": f"{INSTALLATION}#{status}"}},
    )


def test_a_job_whose_completion_webhook_was_lost_is_healed_with_what_changed(scene: Scene) -> None:
    scene.receive(IN_PROGRESS, 1, started_at=ago(minutes=40))
    scene.on_github(1, "completed", **ended())
    response = scene.reconcile()
    job = scene.job(1)
    assert (job["status"], job["conclusion"], job["usage_in_seconds"]) == ("completed", "success", 600)
    line = scene.history(1)[-1]
    assert (line["event_type"], line["source"], line["action"]) == (
        *("job_reconciled", "internal"),
        "completed (success) on GitHub",
    )
    assert line["changes"]["status"] == {"from": "in_progress", "to": "completed"}
    assert response["summary"]["jobs_healed"] == 1
    assert "in_progress in the ledger, completed (success) on GitHub; corrected" in response["text"]


def test_healing_again_changes_nothing(scene: Scene) -> None:
    scene.receive(IN_PROGRESS, 1, started_at=ago(minutes=40))
    scene.on_github(1, "completed", **ended())
    scene.reconcile()
    before, lines = scene.job(1), len(scene.history(1))
    assert scene.reconcile()["summary"]["jobs_healed"] == 0
    assert (scene.job(1), len(scene.history(1))) == (before, lines)


def test_a_change_of_the_last_two_minutes_is_left_to_its_webhook(scene: Scene) -> None:
    scene.receive(IN_PROGRESS, 1, started_at=ago(minutes=40))
    scene.on_github(1, "completed", **ended(completed_at=ago(seconds=20)))
    assert scene.reconcile()["summary"]["jobs_healed"] == 0


def test_a_quick_pass_requests_only_jobs_that_are_stuck(scene: Scene) -> None:
    scene.receive(IN_PROGRESS, 1, started_at=ago(minutes=40))
    scene.on_github(1, "completed", **ended())
    assert scene.reconcile("quick")["summary"]["runs_asked"] == 0
    scene.receive(QUEUED, 2)
    assert scene.reconcile("quick")["summary"]["runs_asked"] == 1


def test_a_run_is_one_call_however_many_jobs_it_has(scene: Scene) -> None:
    for job_id in range(1, 31):
        queued(scene, job_id)
    before = scene.calls("jobs")
    response = scene.reconcile()
    assert response["summary"]["stuck_queued"] == 30
    assert scene.calls("jobs") - before == 1


@pytest.mark.parametrize("step", [IN_PROGRESS, WAITING])
def test_a_job_of_a_finished_run_is_healed_by_the_next_full_pass(scene: Scene, step: str) -> None:
    scene.receive(step, 1, created_at=ago(minutes=50), started_at=ago(minutes=40))
    scene.on_github(1, "completed", **ended())
    scene.github.state.put("runs", RUN, status="completed", conclusion="success")
    _, finished = messages.run("completed")
    event = http_event(json.dumps(finished).encode(), guid="run completed", event="workflow_run")
    assert scene.world.invoke("webhook_intake", event)["statusCode"] == 202
    assert scene.reconcile()["summary"]["jobs_healed"] == 1


def test_the_same_correction_is_made_again_if_the_job_needs_it_again(scene: Scene) -> None:
    scene.receive(WAITING, 1, created_at=ago(days=3))
    scene.on_github(1, "queued", created_at=ago(days=3))
    scene.reconcile("quick")
    assert scene.job(1)["status"] == "queued"
    set_status(scene, 1, "waiting")
    scene.reconcile("quick")
    assert scene.job(1)["status"] == "queued"


@pytest.mark.parametrize("status", [403, 502])
def test_runs_that_fail_do_not_keep_the_others_from_their_turn(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    """Whether GitHub refuses the request or doesn't respond."""
    monkeypatch.setenv("GITHUB_PATIENCE_SECONDS", "0")
    for number in range(1, 5):
        scene.github.state.put("runs", RUN + number, repository=REPO)
        scene.receive(QUEUED, number, run_id=RUN + number)
        scene.github.state.put("jobs", number, run_id=RUN + number, status="queued", created_at=ago(hours=1))
    for number in (1, 2):
        path = f"*/actions/runs/{RUN + number}/*"
        scene.github.state.add_fault(kind="error", status=status, path=path, times=None)
    scene.reconcile()
    checked = [item for item in items(scene.world.dynamodb, RUNS) if "checked_at" in item]
    assert len(checked) == 4


def test_a_denied_call_to_ec2_does_not_stop_the_healing_of_jobs(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    scene.receive(IN_PROGRESS, 1, started_at=ago(minutes=40))
    scene.on_github(1, "completed", **ended())
    queued(scene, 2)
    scene.launch(2, scene.start_instance())
    denied = ClientError({"Error": {"Code": "UnauthorizedOperation", "Message": "no"}}, "DescribeInstances")

    def refuse(*_: object, **__: object) -> None:
        raise denied

    monkeypatch.setattr("runledger.runners.fleet.describe", refuse)
    assert scene.reconcile()["summary"]["jobs_healed"] == 1


def test_a_long_running_job_with_a_living_runner_is_shown_and_left_alone(scene: Scene) -> None:
    started = ago(hours=7)
    scene.receive(IN_PROGRESS, 1, created_at=ago(hours=8), started_at=started)
    scene.on_github(1, "in_progress", created_at=ago(hours=8), started_at=started)
    response = scene.reconcile("quick")
    assert (response["summary"]["stuck_in_progress"], response["summary"]["long_running_jobs"]) == (1, 1)
    assert scene.job(1)["status"] == "in_progress"


def test_an_approval_whose_webhook_was_lost_is_corrected(scene: Scene) -> None:
    scene.receive(WAITING, 1, created_at=ago(days=3))
    scene.on_github(1, "queued", created_at=ago(days=3))
    scene.reconcile("quick")
    assert scene.job(1)["status"] == "queued"


def test_a_job_without_any_webhook_is_recorded_with_its_runs_counters(scene: Scene) -> None:
    scene.receive(QUEUED, 1)
    scene.on_github(1, "queued")
    scene.on_github(2, "in_progress", name="test", started_at=ago(minutes=20), runner_id=9, runner_name="a-runner")
    assert scene.reconcile()["summary"]["jobs_discovered"] == 1
    job = scene.job(2)
    assert (job["status"], job["job_name"], job["run_id"]) == ("in_progress", "test", RUN)
    assert [line["event_type"] for line in scene.history(2)] == ["job_reconciled"]


def test_a_run_that_is_over_is_not_requested_again(scene: Scene) -> None:
    scene.receive(IN_PROGRESS, 1, started_at=ago(minutes=40))
    scene.on_github(1, "completed", **ended())
    scene.reconcile()
    assert scene.reconcile()["summary"]["runs_asked"] == 0


@pytest.mark.parametrize("kind", ["quick", "full"])
def test_a_run_without_an_attempt_number_is_the_first(scene: Scene, kind: str) -> None:
    scene.launch(1, scene.start_instance(), run_attempt=None)
    scene.on_github(1, "completed", conclusion="success", started_at=ago(minutes=50), completed_at=ago(minutes=40))
    response = scene.reconcile(kind)
    assert (response["outcome"], response["summary"]["jobs_healed"]) == ("success", 1)


def test_one_failing_run_stops_no_other(scene: Scene) -> None:
    scene.github.state.put("runs", RUN + 1, repository="lineville/elastic-machines-testing")
    scene.receive(IN_PROGRESS, 1, started_at=ago(minutes=40))
    scene.on_github(1, "completed", **ended())
    scene.receive(IN_PROGRESS, 2, started_at=ago(minutes=40), run_id=RUN + 1)
    path = f"*/actions/runs/{RUN + 1}/*"
    scene.github.state.add_fault(kind="error", status=403, path=path, times=None)
    response = scene.reconcile()
    assert (response["outcome"], response["summary"]["errors"], response["summary"]["jobs_healed"]) == ("errors", 1, 1)


def test_without_an_app_stuck_jobs_are_counted_and_left_alone(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = scene.world.secrets.create_secret(Name="none", SecretString="{}")["ARN"]
    monkeypatch.setenv("GITHUB_APP", secret)
    scene.receive(QUEUED, 1)
    response = scene.reconcile()
    assert (response["outcome"], response["summary"]["stuck_queued"]) == ("success", 1)
    assert scene.job(1)["status"] == "queued"


def test_githubs_budget_is_left_to_others(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_BUDGET_FOR_OTHERS_PERCENT", "100")
    queued(scene, 1)
    scene.github.state.put("runs", RUN + 1, repository="lineville/elastic-machines-testing")
    scene.receive(QUEUED, 2, run_id=RUN + 1)
    response = scene.reconcile()
    assert (response["summary"]["runs_asked"], response["summary"]["postponed"]) == (0, 2)


@pytest.mark.parametrize("kind", ["quick", "full"])
def test_a_job_without_a_repository_is_healed_with_that_of_its_run(scene: Scene, kind: str) -> None:
    scene.receive(COMPLETED, 1, completed_at=ago(minutes=30))
    launched_without(scene, 2, "repo_full_name")
    scene.on_github(2, "completed", **ended())
    assert "repo_full_name" not in scene.job(2)
    scene.reconcile(kind)
    assert (scene.job(2)["status"], scene.job(2)["repo_full_name"]) == ("completed", REPO)


def test_a_job_without_a_run_is_healed_by_itself(scene: Scene) -> None:
    launched_without(scene, 2, "run_id", "run_attempt")
    scene.on_github(2, "completed", **ended())
    scene.reconcile("quick")
    assert (scene.job(2)["status"], scene.job(2)["run_id"]) == ("completed", RUN)
