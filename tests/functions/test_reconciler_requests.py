"""Runners are requested for jobs that are stuck without one, once, and for the job as it is now."""

from typing import Any

import pytest
from runledger.model.job import Job
from runledger.reconciliation.jobs import JobCheck
from runledger.reconciliation.runner_requests import RunnerRequests
from runledger.recording.decision import Decision
from runledger.tables.jobs import JobsTable

from tests.support.reconciler_scene import Scene, queued
from tests.support.webhooks import QUEUED


def test_the_job_is_read_consistently_before_a_runner_is_requested(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A launcher reports a runner right before the read, which returns the older job unless it is consistent."""
    queued(scene, 1)
    instance = scene.start_instance()
    get = JobsTable.get

    def launched_meanwhile(
        self: JobsTable, installation_id: int, job_id: int, *, consistent: bool = False
    ) -> Job | None:
        monkeypatch.setattr(JobsTable, "get", get)
        before = get(self, installation_id, job_id, consistent=True)
        scene.launch(1, instance)
        return get(self, installation_id, job_id, consistent=True) if consistent else before

    monkeypatch.setattr(JobsTable, "get", launched_meanwhile)
    assert scene.reconcile("quick")["summary"]["runners_requested"] == 0
    assert scene.job(1)["status"] == "scheduled"


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


def test_a_scheduled_job_whose_runner_is_running_is_left_alone(scene: Scene) -> None:
    queued(scene, 1)
    scene.launch(1, scene.start_instance())
    response = scene.reconcile("quick")
    assert (response["summary"]["stuck_scheduled"], response["summary"]["runners_requested"]) == (1, 0)
    assert scene.job(1)["status"] == "scheduled"


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
    response = scene.reconcile("quick")
    assert (response["summary"]["stuck_scheduled"], response["summary"]["runners_requested"]) == (1, 0)


def test_no_runner_is_requested_for_a_job_that_its_concurrency_group_holds_back(scene: Scene) -> None:
    scene.receive(QUEUED, 1)
    scene.on_github(1, "pending")
    response = scene.reconcile("quick")
    assert (response["summary"]["stuck_queued"], response["summary"]["runners_requested"]) == (1, 0)
    scene.on_github(1, "queued")
    assert scene.reconcile("quick")["summary"]["runners_requested"] == 1
