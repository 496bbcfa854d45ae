"""The demo on a deployment with a feed: every event is in it exactly once, in order, and readable over the API."""

import time
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from runledger.feeds.events import FeedType
from runledger.feeds.translation import JOB_TIMES, TRANSLATIONS
from runledger.model import times
from runledger.model.reports import REDELIVERY_DAYS

from local import browser
from local.aws import deployment, emulator
from local.aws.outputs import Outputs
from local.demo import workload as demo
from local.demo.generator import PAYMENTS, PLATFORM, WEBSITE
from local.github import simulator
from tests.browser.tab import PATIENCE_MS, Tab
from tests.e2e.api import ask
from tests.feeds import cloud_events
from tests.feeds.schemas import problems
from tests.support.deployed import pause_schedules
from tests.upgrade.deployment import Deployment

pytestmark = pytest.mark.server

INSTALLATIONS = sorted({each.installation_id for each in (PAYMENTS, PLATFORM, WEBSITE)})
PATIENCE_SECONDS = 120
QUIET_SECONDS = 4
expect.set_options(timeout=PATIENCE_MS)


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Outputs]:
    folder: Path = tmp_path_factory.mktemp("deployed-feed")
    with emulator.running(folder) as aws_url, simulator.running(folder) as github_url:
        made = deployment.deploy(aws_url, folder, github_api_url=github_url, settings={"feeds": "true"})
        pause_schedules(made)
        yield made


@pytest.fixture(scope="module")
def played(outputs: Outputs) -> Outputs:
    demo.send(outputs, now=datetime.now(UTC))
    until_quiet(outputs)
    return outputs


def feed(outputs: Outputs, installation_id: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    cursor = None
    while True:
        path = f"/v1/installations/{installation_id}/feed"
        answer = ask(outputs, path, order="oldest", limit=200, cursor=cursor)
        assert answer.status == 200, answer.body
        found += answer.body["items"]
        cursor = answer.body["next_cursor"]
        if not cursor:
            return found


def until_quiet(outputs: Outputs) -> None:
    """Until the queue is empty, and nothing is added for some seconds."""
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
    for job in (each for each in tables["workflow_jobs"].values() if "job_id" in each):
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
    for run in (each for each in tables["workflow_runs"].values() if each.get("status") == "completed"):
        kind = "run.failed" if run.get("conclusion") == "failure" else "run.completed"
        found[f"runs/{run['run_id']}/attempts/{run['run_attempt']}", kind] += 1
    return +found


def test_every_end_approval_interruption_and_request_of_the_demo_is_in_the_feed_exactly_once(played: Outputs) -> None:
    events = [each for installation_id in INSTALLATIONS for each in feed(played, installation_id)]
    wanted = expected(played)
    compared = {kind for _, kind in wanted}
    assert len(compared) >= 7
    found = Counter((each["subject"], each["type"]) for each in events if each["type"] in compared)
    assert found == wanted
    assert len({each["id"] for each in events}) == len(events)


def test_events_of_a_job_are_in_the_order_of_its_life(played: Outputs) -> None:
    order = [FeedType.JOB_QUEUED, FeedType.JOB_STARTED, FeedType.JOB_COMPLETED, FeedType.JOB_FAILED]
    for installation_id in INSTALLATIONS:
        lives: dict[str, list[str]] = {}
        for each in feed(played, installation_id):
            if each["type"] in order:
                lives.setdefault(each["subject"], []).append(each["type"])
        assert lives
        for steps in lives.values():
            assert [order.index(FeedType(step)) for step in steps] == sorted(
                order.index(FeedType(step)) for step in steps
            )


def test_the_feed_is_in_the_order_of_writing_and_each_event_is_valid(played: Outputs) -> None:
    origins = set()
    for installation_id in INSTALLATIONS:
        events = feed(played, installation_id)
        written = [each["writtenat"] for each in events]
        assert written == sorted(set(written))
        for each in events:
            cloud_events.read(each)
            assert problems(each) == []
            assert each["data"]["installation_id"] == installation_id
            origins.add(each["origin"])
    assert origins >= {*TRANSLATIONS.keys() - {"workflow_job_events"}}


def test_the_overview_shows_the_latest_events_with_links_to_their_jobs(played: Outputs) -> None:
    installation_id = INSTALLATIONS[-1]
    newest = feed(played, installation_id)[-1]
    with browser.running() as chromium:
        tab = Tab(chromium, played).sign_in()
        panel = tab.show(installation_id, "overview").page.locator("section", has_text="Latest events")
        rows = panel.locator("tbody tr")
        expect(rows).to_have_count(10)
        expect(rows.first).to_contain_text(newest["type"])
        assert panel.locator(f"a[href*='#/{installation_id}/']").count()
        tab.close()
    assert tab.troubles == []


def test_the_reconcilers_work_is_in_the_feed(played: Outputs) -> None:
    types = {each["type"] for installation_id in INSTALLATIONS for each in feed(played, installation_id)}
    assert types >= {"job.stuck", "job.reconciled", "runner.requested"}


def test_a_posted_event_is_written_once_and_a_consumer_reads_it(played: Outputs) -> None:
    path = f"/v1/installations/{INSTALLATIONS[1]}/feed"
    event = {"type": "release.published", "id": "v1", "data": {"text": "x" * 70_000}}
    first, again = (ask(played, path, method="POST", body=event) for _ in range(2))
    assert (first.status, first.body) == (202, again.body)
    until_quiet(played)
    one = ask(played, f"{path}/{first.body['id']}")
    assert one.body["data"] == event["data"]
    (listed,) = ask(played, path, type="release.published").body["items"]
    assert listed["dataref"] == f"{path}/{first.body['id']}"
    read: list[str] = []
    while items := ask(played, f"{path}/consumers/a/events", limit=50).body["items"]:
        read += [each["id"] for each in items]
        assert ask(played, f"{path}/consumers/a/ack", method="POST", body={"id": read[-1]}).status == 200
    assert read == [each["id"] for each in feed(played, INSTALLATIONS[1])]
    assert read[-1] == first.body["id"]
