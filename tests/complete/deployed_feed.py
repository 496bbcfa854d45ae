"""The feed of a deployment, and what must be in it after the demo."""

import time
from collections import Counter
from datetime import UTC, datetime
from typing import Any

from runledger.feeds.translation import JOB_TIMES
from runledger.model import times
from runledger.model.reports import REDELIVERY_DAYS

from local.aws.outputs import Outputs
from local.demo.generator import PAYMENTS, PLATFORM, WEBSITE
from tests.e2e.api import call
from tests.support.running_deployment import Deployment

INSTALLATIONS = sorted({each.installation_id for each in (PAYMENTS, PLATFORM, WEBSITE)})
PATIENCE_SECONDS = 120
QUIET_SECONDS = 4


def feed(outputs: Outputs, installation_id: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    cursor = None
    while True:
        path = f"/v1/installations/{installation_id}/feed"
        response = call(outputs, path, order="oldest", limit=200, cursor=cursor)
        assert response.status == 200, response.body
        found += response.body["items"]
        cursor = response.body["next_cursor"]
        if not cursor:
            return found


def until_quiet(outputs: Outputs) -> None:
    """Wait until the queue is empty, and nothing is added for some seconds."""
    deployed, ends_at = Deployment(outputs=outputs), time.monotonic() + PATIENCE_SECONDS
    before, since = -1, time.monotonic()
    while time.monotonic() < ends_at:
        number = sum(len(feed(outputs, each)) for each in INSTALLATIONS)
        if number != before or deployed.waiting("FeedEvents"):
            before, since = number, time.monotonic()
        elif time.monotonic() - since > QUIET_SECONDS:
            return
        time.sleep(0.5)
    raise AssertionError("the feed is still growing")


def expected(outputs: Outputs) -> Counter[tuple[str, str]]:
    """Subject and type of events that follow from the final state of the jobs and runs, whatever came between."""
    tables = Deployment(outputs=outputs).tables()
    found: Counter[tuple[str, str]] = Counter()
    oldest = times.earlier(datetime.now(UTC).isoformat(), seconds=REDELIVERY_DAYS * times.SECONDS_PER_DAY)
    jobs = (each for each in tables["workflow_jobs"].values() if each.get("installation_id") in INSTALLATIONS)
    for job in (each for each in jobs if "job_id" in each):
        if max(job[name] for name in JOB_TIMES if name in job) < oldest:
            continue  # the demo's forgotten approval: no news
        subject = f"jobs/{job['job_id']}"
        if job["status"] == "completed":
            failed = job.get("conclusion") in ("failure", "timed_out", "startup_failure")
            found[subject, "job.failed" if failed else "job.completed"] += 1
        for name, kind in (
            ("approval_requested_at", "approval.requested"),
            ("approved_at", "approval.given"),
            ("rejected_at", "approval.refused"),
        ):
            found[subject, kind] += int(name in job)
        is_certain = job["status"] == "completed" or "interrupted_at" in job
        found[subject, "job.interrupted"] += int("was_interrupted" in job and is_certain)
        found[subject, "runner.requested"] += job.get("runner_requests", 0)
    runs = (each for each in tables["workflow_runs"].values() if each.get("installation_id") in INSTALLATIONS)
    for run in (each for each in runs if each.get("status") == "completed"):
        kind = "run.failed" if run.get("conclusion") == "failure" else "run.completed"
        found[f"runs/{run['run_id']}/attempts/{run['run_attempt']}", kind] += 1
    return +found
