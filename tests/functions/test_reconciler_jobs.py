"""Jobs that are stuck, or that we know less of than GitHub does."""

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError
from runledger.model.job import Job
from runledger.reconciliation.jobs import JobCheck
from runledger.reconciliation.requests import RunnerRequests
from runledger.recording.decision import Decision
from runledger.tables.attributes import to_attributes

from tests.functions.reconciling import Scene, ago, queued
from tests.support import messages
from tests.support.beds import items
from tests.support.ledgers import JOBS, RUNNERS, RUNS
from tests.support.webhooks import IN_PROGRESS, INSTALLATION, QUEUED, REPO, RUN, WAITING, http_event


def ended(**about: Any) -> dict[str, Any]:
    return {
        "conclusion": "success",
        "started_at": ago(minutes=40),
        "completed_at": ago(minutes=30),
        "runner_id": 9,
        "runner_name": "a-runner",
        **about,
    }


def absences(scene: Scene) -> list[dict[str, Any]]:
    return [item for item in items(scene.world.dynamodb, RUNNERS) if item["PK"] == "absences"]


def a_while_passes(scene: Scene) -> None:
    """What GitHub did not know, it has not known for an hour."""
    for item in absences(scene):
        older = item | {"first_at": ago(hours=1).replace("Z", ".000Z")}
        scene.world.dynamodb.put_item(TableName=RUNNERS, Item=to_attributes(older))


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
    assert "in_progress in the ledger, completed (success) on GitHub; corrected" in answer["text"]


def test_healing_again_changes_nothing(scene: Scene) -> None:
    scene.receive(IN_PROGRESS, 1, started_at=ago(minutes=40))
    scene.on_github(1, "completed", **ended())
    scene.reconcile()
    before, lines = scene.job(1), len(scene.history(1))
    assert scene.reconcile()["summary"]["jobs_healed"] == 0
    assert (scene.job(1), len(scene.history(1))) == (before, lines)


def test_what_github_learnt_a_moment_ago_is_left_to_its_webhook(scene: Scene) -> None:
    scene.receive(IN_PROGRESS, 1, started_at=ago(minutes=40))
    scene.on_github(1, "completed", **ended(completed_at=ago(seconds=20)))
    assert scene.reconcile()["summary"]["jobs_healed"] == 0


def test_a_quick_pass_asks_only_about_jobs_that_are_stuck(scene: Scene) -> None:
    scene.receive(IN_PROGRESS, 1, started_at=ago(minutes=40))
    scene.on_github(1, "completed", **ended())
    assert scene.reconcile("quick")["summary"]["runs_asked"] == 0
    scene.receive(QUEUED, 2)
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


def test_two_overlapping_passes_request_a_runner_once(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second pass runs after the first one has read the job, and before it records its request."""
    queued(scene, 1)
    request = RunnerRequests.request
    sent: list[dict[str, Any]] = []

    def overtaken(self: RunnerRequests, job: Job, *, at: str) -> Decision | None:
        monkeypatch.setattr(RunnerRequests, "request", request)
        assert scene.reconcile("quick")["summary"]["runners_requested"] == 1
        return request(self, job, at=at)

    monkeypatch.setattr(RunnerRequests, "_send", lambda _, detail: sent.append(detail))
    monkeypatch.setattr(RunnerRequests, "request", overtaken)
    assert scene.reconcile("quick")["summary"]["runners_requested"] == 0
    assert [each["request"] for each in sent] == [1]
    assert scene.job(1)["runner_requests"] == 1


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
    scene.receive(QUEUED, 1)
    scene.on_github(2, "in_progress", started_at=ago(minutes=1))
    scene.reconcile("quick")
    assert scene.job(1)["status"] == "queued"
    a_while_passes(scene)
    scene.reconcile("quick")
    job = scene.job(1)
    assert (job["status"], job["conclusion"]) == ("completed", "cancelled")
    assert scene.history(1)[-1]["action"] == "unknown to GitHub"


def test_jobs_of_a_run_that_github_does_not_know_are_closed_too(scene: Scene) -> None:
    scene.receive(QUEUED, 1, run_id=RUN + 1)
    assert scene.reconcile("quick")["summary"]["jobs_closed"] == 0
    a_while_passes(scene)
    # The run's absence has lasted; now the job's begins.
    assert scene.reconcile("quick")["summary"]["jobs_closed"] == 0
    a_while_passes(scene)
    assert scene.reconcile("quick")["summary"]["jobs_closed"] == 1


@pytest.mark.parametrize("kind", ["quick", "full"])
def test_one_404_closes_nothing(scene: Scene, kind: str) -> None:
    queued(scene, 1)
    scene.github.state.add_fault(kind="error", status=404, path=f"*/actions/runs/{RUN}/attempts/1/jobs", times=1)
    scene.reconcile(kind)
    a_while_passes(scene)
    assert scene.reconcile(kind)["summary"]["jobs_closed"] == 0
    assert scene.job(1)["status"] == "queued"
    assert not absences(scene)


def test_a_job_that_was_closed_is_corrected_when_github_has_it_again(scene: Scene) -> None:
    scene.receive(IN_PROGRESS, 1, created_at=ago(hours=8), started_at=ago(hours=7))
    scene.on_github(1, "completed", **ended(started_at=ago(hours=7), completed_at=ago(hours=6)))
    scene.github.state.add_fault(kind="error", status=404, path="*/actions/*", times=None)
    for _ in range(3):
        scene.reconcile()
        a_while_passes(scene)
    assert scene.job(1)["conclusion"] == "cancelled"
    scene.github.state.clear_faults()
    assert scene.reconcile()["summary"]["jobs_healed"] == 1
    assert scene.job(1)["conclusion"] == "success"
    assert not [each for each in absences(scene) if each["SK"].startswith("job")]


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


def test_runs_that_fail_do_not_keep_the_others_from_their_turn(scene: Scene) -> None:
    for number in range(1, 5):
        scene.github.state.put("runs", RUN + number, repository=REPO)
        scene.receive(QUEUED, number, run_id=RUN + number)
        scene.github.state.put("jobs", number, run_id=RUN + number, status="queued", created_at=ago(hours=1))
    for number in (1, 2):
        path = f"*/actions/runs/{RUN + number}/*"
        scene.github.state.add_fault(kind="error", status=403, path=path, times=None)
    scene.reconcile()
    checked = [item for item in items(scene.world.dynamodb, RUNS) if "checked_at" in item]
    assert len(checked) == 4


def test_a_job_that_got_a_runner_meanwhile_is_not_given_another(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    queued(scene, 1)
    instance = scene.start_instance()
    real = JobCheck._request

    def launched_meanwhile(self: JobCheck, *arguments: Any) -> None:
        scene.launch(1, instance)
        real(self, *arguments)

    monkeypatch.setattr(JobCheck, "_request", launched_meanwhile)
    assert scene.reconcile("quick")["summary"]["runners_requested"] == 0


def test_a_runner_of_another_region_is_not_taken_for_gone(scene: Scene) -> None:
    queued(scene, 1)
    scene.launch(1, "i-0fffffffffffffff0")
    answer = scene.reconcile("quick")
    assert (answer["summary"]["stuck_scheduled"], answer["summary"]["runners_requested"]) == (1, 0)


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
    answer = scene.reconcile("quick")
    assert (answer["summary"]["stuck_in_progress"], answer["summary"]["long_running_jobs"]) == (1, 1)
    assert scene.job(1)["status"] == "in_progress"


def test_an_approval_that_came_without_our_hearing_of_it_is_healed(scene: Scene) -> None:
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


def test_a_run_that_is_over_is_not_asked_again(scene: Scene) -> None:
    scene.receive(IN_PROGRESS, 1, started_at=ago(minutes=40))
    scene.on_github(1, "completed", **ended())
    scene.reconcile()
    assert scene.reconcile()["summary"]["runs_asked"] == 0


@pytest.mark.parametrize("kind", ["quick", "full"])
def test_a_run_without_an_attempt_number_is_the_first(scene: Scene, kind: str) -> None:
    scene.launch(1, scene.start_instance(), run_attempt=None)
    scene.on_github(1, "completed", conclusion="success", started_at=ago(minutes=50), completed_at=ago(minutes=40))
    answer = scene.reconcile(kind)
    assert (answer["outcome"], answer["summary"]["jobs_healed"]) == ("success", 1)


def test_one_failing_run_stops_no_other(scene: Scene) -> None:
    scene.github.state.put("runs", RUN + 1, repository="lineville/elastic-machines-testing")
    scene.receive(IN_PROGRESS, 1, started_at=ago(minutes=40))
    scene.on_github(1, "completed", **ended())
    scene.receive(IN_PROGRESS, 2, started_at=ago(minutes=40), run_id=RUN + 1)
    path = f"*/actions/runs/{RUN + 1}/*"
    scene.github.state.add_fault(kind="error", status=403, path=path, times=None)
    answer = scene.reconcile()
    assert (answer["outcome"], answer["summary"]["errors"], answer["summary"]["jobs_healed"]) == ("errors", 1, 1)


def test_without_an_app_stuck_jobs_are_counted_and_left_alone(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = scene.world.secrets.create_secret(Name="none", SecretString="{}")["ARN"]
    monkeypatch.setenv("GITHUB_APP", secret)
    scene.receive(QUEUED, 1)
    answer = scene.reconcile()
    assert (answer["outcome"], answer["summary"]["stuck_queued"]) == ("success", 1)
    assert scene.job(1)["status"] == "queued"


def test_githubs_budget_is_left_to_others(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_BUDGET_FOR_OTHERS_PERCENT", "100")
    queued(scene, 1)
    scene.github.state.put("runs", RUN + 1, repository="lineville/elastic-machines-testing")
    scene.receive(QUEUED, 2, run_id=RUN + 1)
    answer = scene.reconcile()
    assert (answer["summary"]["runs_asked"], answer["summary"]["postponed"]) == (0, 2)


def test_no_runner_is_requested_for_a_job_that_its_concurrency_group_holds_back(scene: Scene) -> None:
    scene.receive(QUEUED, 1)
    scene.on_github(1, "pending")
    answer = scene.reconcile("quick")
    assert (answer["summary"]["stuck_queued"], answer["summary"]["runners_requested"]) == (1, 0)
    scene.on_github(1, "queued")
    assert scene.reconcile("quick")["summary"]["runners_requested"] == 1


def launched_without(scene: Scene, job_id: int, *unknown: str, **about: Any) -> None:
    scene.launch(job_id, scene.start_instance(), **dict.fromkeys(unknown), **about)


def test_a_job_without_a_repository_is_healed_with_that_of_its_run(scene: Scene) -> None:
    queued(scene, 1)
    launched_without(scene, 2, "repo_full_name")
    scene.on_github(2, "completed", **ended())
    assert "repo_full_name" not in scene.job(2)
    scene.reconcile()
    assert (scene.job(2)["status"], scene.job(2)["repo_full_name"]) == ("completed", REPO)


def test_a_job_without_a_run_is_healed_by_itself(scene: Scene) -> None:
    launched_without(scene, 2, "run_id", "run_attempt")
    scene.on_github(2, "completed", **ended())
    scene.reconcile("quick")
    assert (scene.job(2)["status"], scene.job(2)["run_id"]) == ("completed", RUN)


def test_a_job_of_an_unknown_repository_is_closed_after_three_days(scene: Scene) -> None:
    launched_without(scene, 2, "repo_full_name", "run_id", "run_attempt")
    scene.reconcile()
    assert scene.job(2)["status"] == "scheduled"
    scene.world.dynamodb.update_item(
        TableName=JOBS,
        Key={"PK": {"S": f"{INSTALLATION}#2"}, "SK": {"S": "v"}},
        UpdateExpression="SET created_at = :at",
        ExpressionAttributeValues={":at": {"S": ago(days=4).replace("Z", ".000Z")}},
    )
    assert scene.reconcile()["summary"]["jobs_closed"] == 1
    assert (scene.job(2)["status"], scene.history(2)[-1]["action"]) == ("completed", "its repository is unknown")


def uninstall(scene: Scene) -> None:
    action, deleted = messages.installation("deleted")
    assert action
    event = http_event(json.dumps(deleted).encode(), guid="uninstalled", event="installation")
    assert scene.world.invoke("webhook_intake", event)["statusCode"] == 202
    del scene.github.state.installations[INSTALLATION]


def test_after_uninstalling_jobs_are_closed_and_machines_become_orphans_that_stay_alive(scene: Scene) -> None:
    queued(scene, 1)
    scene.receive(IN_PROGRESS, 2, started_at=ago(minutes=40))
    instance = scene.start_instance()
    scene.launch(3, instance)
    uninstall(scene)
    assert scene.reconcile()["summary"]["jobs_closed"] == 3
    for job_id in (1, 2, 3):
        job, line = scene.job(job_id), scene.history(job_id)[-1]
        assert (job["status"], job["conclusion"]) == ("completed", "cancelled")
        assert line["action"] == "the App was uninstalled"
    assert {run["status"] for run in items(scene.world.dynamodb, RUNS)} == {"completed"}
    for _ in range(2):
        answer = scene.reconcile()
    assert (answer["summary"]["orphans"], answer["summary"]["jobs_closed"]) == (1, 0)
    assert f"installation {INSTALLATION} does not exist, so its runners can't be listed" in answer["text"]
    assert scene.state_of(instance) == "running"
