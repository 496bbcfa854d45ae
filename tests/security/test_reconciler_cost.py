"""What one tenant can make the reconciler spend: the calls and the time of a pass belong to all of them."""

import pytest

from tests.support.reconciler_scene import Scene, ago
from tests.support.webhooks import QUEUED, REPO, RUN

JOB = 99


def test_jobs_that_a_launcher_invents_under_one_run_leave_githubs_budget_to_others(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of them takes a call. A job that GitHub lists for the run is compared all the same."""
    monkeypatch.setenv("GITHUB_BUDGET_FOR_OTHERS_PERCENT", "50")
    scene.github.state.configure(rate_limit=40)
    for job_id in range(1, 41):
        scene.launch(job_id, f"i-{job_id:017x}", run_id=RUN, repo_full_name=REPO)
    scene.receive(QUEUED, JOB)
    scene.on_github(JOB, "completed", completed_at=ago(minutes=30), conclusion="success")
    response = scene.reconcile("quick")
    assert 0 < scene.calls("/actions/jobs/") <= 20
    assert response["summary"]["jobs_healed"] == 1
    assert scene.job(JOB)["status"] == "completed"
