"""The service levels of the reconciler are measured: cleanup latency, successful passes, and the orphan rate."""

from typing import Any

import pytest
from runledger.model.passes import INTERVAL_SECONDS, PassKind
from runledger.reconciliation.cleanup import Cleanup
from runledger.reconciliation.reconciler import Reconciler
from runledger.reconciliation.runners import OVERDUE_SECONDS

from stacks.monitoring.saved_queries import OVER_FUNCTIONS
from tests.support import insights
from tests.support.documents import section
from tests.support.ledgers import RUNNERS
from tests.support.log_lines import written
from tests.support.reconciler_scene import Scene, ago, outlived, queued
from tests.support.runner_events import batch, instance_state
from tests.support.webhooks import COMPLETED, QUEUED, REPO

Lines = list[dict[str, Any]]


def values(lines: Lines, metric: str) -> list[float]:
    return [line[metric] for line in lines if metric in line]


def ended(scene: Scene, job_id: int) -> None:
    """A runner that ended after its launch, as EC2 reports it."""
    instance = scene.start_instance()
    scene.receive(QUEUED, job_id)
    scene.launch(job_id, instance)
    end = instance_state("terminated", runner_id=instance) | {"time": ago(minutes=5)}
    scene.world.invoke("instance_state", batch(end))
    scene.world.client("ec2").terminate_instances(InstanceIds=[instance])


def suspected_earlier(scene: Scene, instance: str, **ago_: float) -> None:
    scene.world.dynamodb.update_item(
        TableName=RUNNERS,
        Key={"PK": {"S": instance}, "SK": {"S": scene.runner(instance)["SK"]}},
        UpdateExpression="SET suspected_at = :at",
        ExpressionAttributeValues={":at": {"S": ago(**ago_).replace("Z", ".000Z")}},
    )


def test_cleanup_latency_lasts_from_the_suspicion_to_the_stop(scene: Scene, capsys: pytest.CaptureFixture[str]) -> None:
    instance = outlived(scene)
    scene.reconcile()
    assert values(written(capsys), "CleanupLatency") == []
    suspected_earlier(scene, instance, minutes=12)
    scene.reconcile("quick")
    (line,) = [line for line in written(capsys) if line.get("message") == "orphan cleaned"]
    assert 720 <= line["CleanupLatency"] < 780
    assert (line["runner_id"], line["repo_full_name"], line["reason"]) == (instance, REPO, "job_completed")


def test_a_runner_that_is_not_stopped_has_no_cleanup_latency(scene: Scene, capsys: pytest.CaptureFixture[str]) -> None:
    outlived(scene, busy=True)
    for _ in range(2):
        scene.reconcile()
    assert values(written(capsys), "CleanupLatency") == []


def test_the_orphan_rate_is_the_share_of_runners_that_become_orphans(
    scene: Scene, capsys: pytest.CaptureFixture[str]
) -> None:
    for job_id in (2, 3, 4):
        ended(scene, job_id)
    outlived(scene)
    scene.reconcile("quick")
    samples = values(written(capsys), "OrphanedRunnerRate")
    assert (sorted(samples), sum(samples) / len(samples)) == ([0, 0, 0, 100], 25)


def test_an_orphan_counts_once_however_many_passes_find_it(
    scene: Scene, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ORPHANS", "report")
    outlived(scene)
    for _ in range(3):
        scene.reconcile("quick")
    assert values(written(capsys), "OrphanedRunnerRate") == [100]


def test_an_orphan_that_two_overlapping_passes_find_counts_once(
    scene: Scene, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    instance, check, overlaps = outlived(scene), Cleanup.check, [True]

    def overlapped(*arguments: Any, **more: Any) -> Any:
        """Between the check of one pass and its suspicion, another pass runs from start to end."""
        found = check(*arguments, **more)
        if overlaps and overlaps.pop():
            scene.reconcile("quick")
        return found

    monkeypatch.setattr(Cleanup, "check", overlapped)
    scene.reconcile("quick")
    assert "suspected_at" in scene.runner(instance)
    lines = written(capsys)
    assert values(lines, "OrphanedRunnerRate") == [100]
    assert sum(values(lines, "OrphanedRunnersDetected")) == 1


def test_an_orphan_whose_reason_changes_counts_once_and_has_its_first_suspicion(
    scene: Scene, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ORPHANS", "report")
    monkeypatch.setenv("RUNNER_REGISTRATION_MINUTES", "0")
    instance = scene.start_instance()
    queued(scene, 1)
    scene.launch(1, instance)
    scene.reconcile("quick")
    first = scene.runner(instance)
    scene.receive(COMPLETED, 1, conclusion="cancelled", completed_at=ago(minutes=1))
    scene.reconcile("quick")
    after = scene.runner(instance)
    assert (first["suspected_reason"], after["suspected_reason"]) == ("never_registered", "job_completed")
    assert after["suspected_at"] == first["suspected_at"]
    lines = written(capsys)
    assert values(lines, "OrphanedRunnerRate") == [100]
    assert sum(values(lines, "OrphanedRunnersDetected")) == 1


def test_an_orphan_is_overdue_although_github_does_not_respond_to_its_check(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RUNNER_REGISTRATION_MINUTES", "0")
    instance = scene.start_instance()
    queued(scene, 1)
    scene.launch(1, instance)
    scene.reconcile("quick")
    suspected_earlier(scene, instance, minutes=30)
    scene.github.state.add_fault(kind="error", status=502, path="*/runners*", times=None)
    summary = scene.reconcile("quick")["summary"]
    assert (summary["orphans"], summary["orphans_overdue"], summary["postponed"]) == (1, 1, 1)


def test_passes_that_succeed_and_fail_are_counted(scene: Scene, capsys: pytest.CaptureFixture[str]) -> None:
    scene.reconcile("quick")
    assert outcomes(written(capsys)) == [(1, 0)]
    scene.receive(QUEUED, 1, created_at=ago(hours=2))
    scene.github.state.add_fault(kind="error", status=403, path="*/jobs", times=None)
    scene.reconcile()
    assert outcomes(written(capsys)) == [(0, 1)]


def test_a_pass_that_runs_out_of_time_neither_succeeds_nor_fails(
    scene: Scene, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Reconciler, "_parts", lambda *_: {"jobs": lambda _: False})
    scene.reconcile()
    assert outcomes(written(capsys)) == [(0, 0)]


def test_a_pass_that_crashes_is_counted_as_failed(
    scene: Scene, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_: object, **__: object) -> None:
        raise RuntimeError("no table")

    monkeypatch.setattr(Reconciler, "_finish", crash)
    with pytest.raises(RuntimeError):
        scene.reconcile()
    assert outcomes(written(capsys)) == [(0, 1)]


def test_the_cleanup_of_one_runner_is_not_counted_as_a_pass(scene: Scene, capsys: pytest.CaptureFixture[str]) -> None:
    scene.reconcile(clean="i-0123456789abcdef0", requested_by="ada")
    assert outcomes(written(capsys)) == []


def test_the_repositories_with_most_orphans_are_a_saved_query(scene: Scene, capsys: pytest.CaptureFixture[str]) -> None:
    ended(scene, 2)
    outlived(scene)
    scene.reconcile("quick")
    (row,) = insights.run(OVER_FUNCTIONS["orphans by repository"], written(capsys))
    assert row == {"repo_full_name": REPO, "orphans": 1, "orphan_percent": 50}


def test_the_document_has_the_time_after_which_an_overdue_orphan_is_an_alarm() -> None:
    earliest = OVERDUE_SECONDS // 60
    latest = earliest + INTERVAL_SECONDS[PassKind.QUICK] // 60
    assert f"{earliest} to {latest} minutes after it" in section("monitoring.md", "Service levels of the reconciler")


def outcomes(lines: Lines) -> list[tuple[int, int]]:
    return [(line["PassesSucceeded"], line["PassesFailed"]) for line in lines if "PassesSucceeded" in line]
