"""Jobs are closed if GitHub doesn't have them, or the App was uninstalled, and are compared with GitHub again."""

import json
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

import pytest
from runledger.reconciliation import jobs
from runledger.tables.absences import Absence, Absences

from tests.support import messages
from tests.support.beds import items
from tests.support.ledgers import JOBS, RUNS
from tests.support.reconciler_scene import Scene, a_while_passes, absences, ago, ended, launched_without, queued
from tests.support.webhooks import IN_PROGRESS, INSTALLATION, QUEUED, REPO, RUN, http_event

LONG_AGO = {"created_at": ago(hours=8), "started_at": ago(hours=7)}
ENDED = ended(started_at=ago(hours=7), completed_at=ago(hours=6))


def close(scene: Scene, *job_ids: int) -> None:
    """GitHub returns 404 for all of them until they are closed."""
    for job_id in job_ids:
        scene.github.state.put("runs", RUN + job_id, repository=REPO)
        scene.receive(IN_PROGRESS, job_id, run_id=RUN + job_id, **LONG_AGO)
    scene.github.state.add_fault(kind="error", status=404, path="*/actions/*", times=None)
    for _ in range(3):
        scene.reconcile()
        a_while_passes(scene)
    assert {scene.job(job_id)["conclusion"] for job_id in job_ids} == {"cancelled"}
    scene.github.state.clear_faults()


def test_a_closed_job_that_stays_unknown_does_not_keep_others_from_being_compared(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "CLOSED_COMPARED_AT_MOST", 1)
    close(scene, 1, 2)
    scene.on_github(2, "completed", run_id=RUN + 2, **ENDED)
    for _ in range(2):
        scene.reconcile()
    assert (scene.job(1)["conclusion"], scene.job(2)["conclusion"]) == ("cancelled", "success")


def hurried(scene: Scene, calls: int) -> Any:
    """A full pass that has time for so many calls about runs and jobs."""
    at_most = scene.calls("/jobs") + calls
    context = SimpleNamespace(
        aws_request_id="hurried",
        get_remaining_time_in_millis=lambda: 600_000 if scene.calls("/jobs") < at_most else 1_000,
    )
    return scene.world.start("reconciler").handler({"pass": "full"}, context)


def test_runs_that_fill_a_pass_starve_neither_jobs_without_a_run_nor_closed_ones(scene: Scene) -> None:
    close(scene, 1)
    scene.on_github(1, "completed", run_id=RUN + 1, **ENDED)
    launched_without(scene, 2, "run_id", "run_attempt")
    scene.on_github(2, "completed", **ended())
    for job_id in range(3, 9):
        scene.github.state.put("runs", RUN + job_id, repository=REPO)
        queued(scene, job_id, run_id=RUN + job_id)
    assert hurried(scene, calls=3)["outcome"] == "unfinished"
    assert (scene.job(1)["conclusion"], scene.job(2)["status"]) == ("success", "completed")


def test_an_absence_that_another_pass_forgets_while_the_job_is_closed_is_complete(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Absences.close

    def forgotten_meanwhile(self: Absences, absence: Absence, *, at: str) -> None:
        self.forget_open([absence.key])
        real(self, absence, at=at)

    monkeypatch.setattr(Absences, "close", forgotten_meanwhile)
    close(scene, 1)
    scene.on_github(1, "completed", run_id=RUN + 1, **ENDED)
    response = scene.reconcile()
    assert (response["summary"]["errors"], response["summary"]["jobs_healed"]) == (0, 1)


def test_an_absence_whose_job_another_pass_has_closed_meanwhile_is_kept(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise the job would stay closed, although it is on GitHub."""
    queued(scene, 1)
    scene.github.state.add_fault(kind="error", status=404, path="*/actions/jobs/1", times=None)
    del scene.github.state.jobs[1]
    scene.reconcile()
    (absence,) = [each for each in absences(scene) if each["SK"].startswith("job")]
    scene.github.state.clear_faults()
    scene.on_github(1, "queued")
    real = Absences.forget_open

    def closed_meanwhile(self: Absences, keys: Iterable[str]) -> None:
        at, key = absence["first_at"], absence["SK"]
        self.close(Absence(key=key, installation_id=INSTALLATION, repo_full_name=REPO, first_at=at, job_id=1), at=at)
        real(self, keys)

    monkeypatch.setattr(Absences, "forget_open", closed_meanwhile)
    scene.reconcile()
    assert [each["SK"] for each in absences(scene) if "closed_at" in each] == [absence["SK"]]


def test_a_job_without_a_repository_is_not_closed_while_its_run_is_known(scene: Scene) -> None:
    """GitHub is called with the repository of the run."""
    queued(scene, 1)
    launched_without(scene, 2, "repo_full_name")
    scene.on_github(2, "queued")
    four_days_ago = {":at": {"S": ago(days=4).replace("Z", ".000Z")}}
    key = {"PK": {"S": f"{INSTALLATION}#2"}, "SK": {"S": "v"}}
    expression = "SET created_at = :at"
    scene.world.dynamodb.update_item(
        TableName=JOBS, Key=key, UpdateExpression=expression, ExpressionAttributeValues=four_days_ago
    )
    assert scene.reconcile()["summary"]["jobs_closed"] == 0
    assert scene.job(2)["status"] == "scheduled"


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
    assert {run["status"] for run in items(scene.world.dynamodb, RUNS)} == {"queued"}
    a_while_passes(scene)
    assert scene.reconcile(kind)["summary"]["jobs_closed"] == 0
    assert scene.job(1)["status"] == "queued"
    assert not absences(scene)


@pytest.mark.parametrize("kind", ["quick", "full"])
def test_several_404s_in_ten_minutes_close_nothing(scene: Scene, kind: str) -> None:
    queued(scene, 1)
    scene.github.state.add_fault(kind="error", status=404, path="*/actions/*", times=None)
    for _ in range(4):
        assert scene.reconcile(kind)["summary"]["jobs_closed"] == 0
    assert scene.job(1)["status"] == "queued"
    assert {run["status"] for run in items(scene.world.dynamodb, RUNS)} == {"queued"}


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
        response = scene.reconcile()
    assert (response["summary"]["orphans"], response["summary"]["jobs_closed"]) == (1, 0)
    assert f"installation {INSTALLATION} does not exist, so its runners can't be listed" in response["text"]
    assert scene.state_of(instance) == "running"
