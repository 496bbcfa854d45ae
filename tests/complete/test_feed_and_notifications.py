"""The demo on a deployment with a feed and notifications: every event is in the feed exactly once, in order, and
readable over the API, and receivers of webhooks get their messages.
"""

import json
import time
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple

import pytest
from playwright.sync_api import expect
from runledger.feeds.events import FeedType
from runledger.feeds.translation import TRANSLATIONS
from standardwebhooks.webhooks import Webhook

from local import browser
from local.aws.outputs import Outputs
from local.demo.releases import PACKAGE, VERSION, VERSION_BEFORE
from local.demo.scenarios.releases import INSTALLATION, UI
from local.demo.workload import Played
from tests.browser.tab import PATIENCE_MS, Tab
from tests.complete.deployed_feed import INSTALLATIONS, expected, feed, until_quiet
from tests.e2e.api import call
from tests.feeds import cloud_events
from tests.feeds.schemas import problems
from tests.notifications import emulator_steps
from tests.notifications.channels.receivers import Receiver, receiving, responds
from tests.support.polling import eventually

expect.set_options(timeout=PATIENCE_MS)


class Subscribed(NamedTuple):
    receiver: Receiver
    subscription_id: str
    secret: str


@pytest.fixture(scope="module")
def after_demo(outputs: Outputs, played: Played) -> Outputs:
    assert played
    return outputs


@pytest.fixture(scope="module")
def subscribed(after_demo: Outputs) -> Iterator[Subscribed]:
    with receiving(responds(204)) as receiver:
        made = emulator_steps.subscribe(after_demo, INSTALLATIONS[0], receiver.url, types=["audit.*"])
        yield Subscribed(receiver, made["subscription_id"], made["secret"])


def test_a_test_message_reaches_the_receiver_of_a_new_subscription(after_demo: Outputs, subscribed: Subscribed) -> None:
    path = f"/v1/installations/{INSTALLATIONS[0]}/subscriptions/{subscribed.subscription_id}"
    sent = emulator_steps.post(after_demo, f"{path}/test")
    eventually(lambda: subscribed.receiver.requests, "the test")
    assert subscribed.receiver.requests[0].headers["webhook-id"] == sent["message_id"]
    eventually(lambda: call(after_demo, path).body["health"]["status"] == "healthy", "a healthy receiver")


def test_every_end_approval_interruption_and_request_of_the_demo_is_in_the_feed_exactly_once(
    after_demo: Outputs,
) -> None:
    events = [each for installation_id in INSTALLATIONS for each in feed(after_demo, installation_id)]
    wanted = expected(after_demo)
    compared = {kind for _, kind in wanted}
    assert len(compared) >= 7
    found = Counter((each["subject"], each["type"]) for each in events if each["type"] in compared)
    assert found == wanted
    assert len({each["id"] for each in events}) == len(events)


def test_what_turned_red_and_what_was_released_is_in_the_feed_exactly_once(after_demo: Outputs) -> None:
    events = [each for each in feed(after_demo, INSTALLATION) if each["type"].startswith(("head.", "release."))]
    found = Counter(
        (each["type"], each["data"].get("version") or each["data"]["workflow_name"])
        for each in events
        if UI.full_name in each["data"].values() or PACKAGE in each["data"].values()
    )
    # Runs that arrive together are one change of their head, so a colour in between may not show.
    assert found.pop(("head.turned_red", "CI"), 0) == found.pop(("head.turned_green", "CI"), 0) <= 1
    assert found == {
        ("head.turned_red", "Docs"): 1,
        ("release.published", VERSION_BEFORE): 1,
        ("release.published", VERSION): 1,
        ("release.failed", VERSION): 1,
    }


def test_events_of_a_job_are_in_the_order_of_its_statuses(after_demo: Outputs) -> None:
    order = [FeedType.JOB_QUEUED, FeedType.JOB_STARTED, FeedType.JOB_COMPLETED, FeedType.JOB_FAILED]
    for installation_id in INSTALLATIONS:
        lives: dict[str, list[str]] = {}
        for each in feed(after_demo, installation_id):
            if each["type"] in order:
                lives.setdefault(each["subject"], []).append(each["type"])
        assert lives
        for steps in lives.values():
            assert [order.index(FeedType(step)) for step in steps] == sorted(
                order.index(FeedType(step)) for step in steps
            )


def test_the_feed_is_in_the_order_of_writing_and_each_event_is_valid(after_demo: Outputs) -> None:
    origins = set()
    for installation_id in INSTALLATIONS:
        events = feed(after_demo, installation_id)
        written = [each["writtenat"] for each in events]
        assert written == sorted(set(written))
        for each in events:
            cloud_events.read(each)
            assert problems(each) == []
            assert each["data"]["installation_id"] == installation_id
            origins.add(each["origin"])
    assert origins >= {*TRANSLATIONS.keys() - {"workflow_job_events"}}


def test_the_overview_shows_the_latest_events_with_links_to_their_jobs(after_demo: Outputs) -> None:
    installation_id = INSTALLATIONS[-1]
    newest = feed(after_demo, installation_id)[-1]
    with browser.running() as chromium:
        tab = Tab(chromium, after_demo).sign_in()
        panel = tab.show(installation_id, "overview").page.locator("section", has_text="Latest events")
        rows = panel.locator("tbody tr")
        expect(rows).to_have_count(10)
        expect(rows.first).to_contain_text(newest["type"])
        assert panel.locator(f"a[href*='#/{installation_id}/']").count()
        tab.close()
    assert tab.troubles == []


def test_a_subscription_is_created_and_tested_on_the_page(after_demo: Outputs) -> None:
    with receiving(responds(204)) as receiver, browser.running() as chromium:
        tab = Tab(chromium, after_demo).sign_in().show(INSTALLATIONS[0], "subscription", part="new")
        page = tab.page
        page.get_by_label("Name", exact=True).fill("From the page")
        page.get_by_label("Channel").select_option(label="Webhook")
        page.get_by_label("URL", exact=True).fill(receiver.url)
        page.get_by_role("button", name="Create").click()
        secret = page.get_by_role("dialog").locator("code").inner_text()
        page.get_by_role("button", name="Done").click()
        page.get_by_role("button", name="Send a test").click()
        expect(page.locator(".summary")).to_contain_text("The receiver accepted it")
        tab.close()
    assert tab.troubles == []
    (request,) = receiver.requests
    assert Webhook(secret).verify(request.body, request.headers)["type"] == "runledger.test"


def test_the_reconcilers_work_is_in_the_feed(after_demo: Outputs) -> None:
    types = {each["type"] for installation_id in INSTALLATIONS for each in feed(after_demo, installation_id)}
    assert types >= {"job.stuck", "job.reconciled", "runner.requested"}


def test_a_posted_event_is_written_once_and_a_consumer_reads_it(after_demo: Outputs) -> None:
    path = f"/v1/installations/{INSTALLATIONS[1]}/feed"
    event = {"type": "audit.finished", "id": "v1", "data": {"text": "x" * 70_000}}
    first, again = (call(after_demo, path, method="POST", body=event) for _ in range(2))
    assert (first.status, first.body) == (202, again.body)
    until_quiet(after_demo)
    one = call(after_demo, f"{path}/{first.body['id']}")
    assert one.body["data"] == event["data"]
    (listed,) = call(after_demo, path, type="audit.finished").body["items"]
    assert listed["dataref"] == f"{path}/{first.body['id']}"
    read: list[str] = []
    while items := call(after_demo, f"{path}/consumers/a/events", limit=50).body["items"]:
        read += [each["id"] for each in items]
        assert call(after_demo, f"{path}/consumers/a/ack", method="POST", body={"id": read[-1]}).status == 200
    assert read == [each["id"] for each in feed(after_demo, INSTALLATIONS[1])]
    assert read[-1] == first.body["id"]


def test_a_receiver_that_fails_is_retried_and_a_failed_message_is_sent_again_by_a_person(after_demo: Outputs) -> None:
    scope = INSTALLATIONS[0]
    here = f"/v1/installations/{scope}"
    with receiving(responds(500), responds(410), responds(200)) as receiver:
        made = emulator_steps.subscribe(after_demo, scope, receiver.url, types=["release.*"])
        sent = emulator_steps.post(
            after_demo, f"{here}/messages", {"text": "x", "subscription_id": made["subscription_id"]}
        )
        path = f"{here}/messages/{sent['items'][0]['message_id']}"
        waiting = eventually(lambda: call(after_demo, path).body.get("next_attempt_at"), "a retry")
        assert call(after_demo, path).body["status"] == "processing"
        eventually(lambda: call(after_demo, path).body["status"] == "failed", f"the second attempt at {waiting}")
        assert call(after_demo, path).body["retry_count"] == 1
        again = emulator_steps.post(after_demo, f"{path}/send-again")
        resent = f"{here}/messages/{again['message_id']}"
        eventually(lambda: call(after_demo, resent).body["status"] == "completed", "the message sent again")
        emulator_steps.unsubscribe(after_demo, scope, made)
    assert len(receiver.requests) == 3


def test_a_tick_sends_a_digest_of_the_demo_once(after_demo: Outputs) -> None:
    scope = INSTALLATIONS[0]
    now = datetime.now(UTC)
    with receiving(responds(200)) as receiver:
        schedule = {"every": "daily", "hour": (now.hour + 1) % 24}
        made = emulator_steps.subscribe(after_demo, scope, receiver.url, types=[], schedule=schedule)
        assert emulator_steps.tick(after_demo)["scheduled"] == 0
        emulator_steps.make_due(after_demo, scope, made["subscription_id"], hour=now.hour)
        assert [emulator_steps.tick(after_demo)["scheduled"] for _ in range(2)] == [1, 0]
        eventually(lambda: receiver.requests, "the digest")
        emulator_steps.unsubscribe(after_demo, scope, made)
    digest = json.loads(receiver.requests[0].body)
    assert digest["type"] == "runledger.digest"
    assert digest["data"]["installation_id"] == scope


def test_a_new_event_reaches_its_receiver_once_signed_and_is_delivered(
    after_demo: Outputs, subscribed: Subscribed
) -> None:
    """The last test: the router reads subscriptions again after half a minute, which has passed since the first."""
    scope, event = INSTALLATIONS[0], {"type": "audit.finished", "data": {"version": "1.2.3"}}
    sent: list[str] = []

    def received() -> Any:
        sent.append(emulator_steps.post(after_demo, f"/v1/installations/{scope}/feed", event)["id"])
        time.sleep(1)
        return subscribed.receiver.requests[1:]

    first = eventually(received, "an event")[0]
    verified = Webhook(subscribed.secret).verify(first.body, first.headers)
    assert cloud_events.read(verified).get_type() == "audit.finished"
    assert verified["id"] in sent
    path = f"/v1/installations/{scope}/feed/{verified['id']}"
    eventually(lambda: call(after_demo, path).body["deliverystatus"] == "delivered", "a delivered event")
    found = emulator_steps.messages(after_demo, scope, status="completed", type="audit.finished")
    assert first.headers["webhook-id"] in {each["message_id"] for each in found}
    ids = [each.headers["webhook-id"] for each in subscribed.receiver.requests]
    assert len(ids) == len(set(ids))
