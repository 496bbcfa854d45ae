"""Jobs that are missing on GitHub are closed and compared again, whatever else a pass has to do meanwhile."""

from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

import pytest
from runledger.reconciliation import jobs
from runledger.tables.absences import Absence, Absences

from tests.functions.reconciling import Scene, ago, queued
from tests.functions.test_reconciler_jobs import a_while_passes, absences, ended, launched_without
from tests.support.ledgers import JOBS
from tests.support.webhooks import IN_PROGRESS, INSTALLATION, REPO, RUN

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
    answer = scene.reconcile()
    assert (answer["summary"]["errors"], answer["summary"]["jobs_healed"]) == (0, 1)


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
    """GitHub is asked with the repository of the run."""
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
