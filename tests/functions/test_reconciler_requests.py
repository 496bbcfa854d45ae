"""A runner is requested for the job as it is now, not as the pass read it at its start."""

import pytest
from runledger.model.job import Job
from runledger.tables.jobs import JobsTable

from tests.functions.reconciling import Scene, queued


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
