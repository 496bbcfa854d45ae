"""The page *Notifications* in a real browser: what operators do with it, and what readers see."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect
from runledger.model import times
from runledger.recording.ledger import Ledger

from tests.api.client import Client
from tests.browser.page_text import NOTHING
from tests.browser.tab import PHONE
from tests.figures.page import Dashboard, chromium
from tests.notifications.api_scene import (
    HERE,
    MESSAGES,
    SUBSCRIPTIONS,
    api,
    client,
    created,
    fail,
    ledger,
    path,
    secret,
    world,
)
from tests.notifications.page_scene import TODAY, Open, built, complete, open_page, row, scene, today
from tests.support.webhooks import INSTALLATION, QUEUED, receipt

__all__ = ["api", "built", "chromium", "client", "ledger", "open_page", "world"]

pytestmark = pytest.mark.server

HTML = "<img src=x onerror=alert(1)> \u202eevil\u202c " + "x" * 60
SLACK = "https://hooks.slack.com/services/T000/B000/not-a-real-token"
ERROR = "The receiver returned 500"
DAILY = {"every": "daily", "hour": 7, "timezone": "Europe/Berlin", "content": "reminder", "text": "Stand-up"}
ALL_FIELDS: dict[str, dict[str, Any]] = {
    "webhook": {
        "types": ["job.failed", "approval.requested", "job.*", "audit.finished"],
        "repositories": ["acme/api", "acme/web-*"],
        "branches": ["main", "release/*"],
        "conclusions": ["failure", "startup_failure"],
        "at_most_per_hour": 7,
    },
    "slack": {"config": {}, "secret": SLACK, "schedule": DAILY, "enabled": False},
    "ntfy": {
        "config": {"url": "https://ntfy.sh/acme", "priority": 4, "tags": ["warning", "x"]},
        "schedule": {"every": "weekly", "weekday": "friday", "hour": 16, "timezone": "UTC", "content": "digest"},
        "types": [],
    },
    "sns": {"config": {"target": "builds"}},
    "relaunch": {
        "config": {"url": "https://launcher.example/hook", "owner_type": "User", "installation_id": 77},
        "secret": "of the launcher",
        "types": ["runner.requested"],
    },
}


def test_an_operator_creates_a_webhook_and_sees_its_secret_once(open_page: Open, client: Client) -> None:
    page = (tab := open_page().view("notifications")).page
    page.get_by_role("link", name="Create a subscription").click()
    tab.settled()
    page.get_by_label("Name", exact=True).fill("Pager")
    page.get_by_label("Channel").select_option(label="Webhook")
    page.get_by_label("URL", exact=True).fill("https://a.example/hook")
    page.get_by_label("approval.forgotten").check()
    page.get_by_label("Other types").fill("release.*")
    page.get_by_label("Branches").fill("main, release/*")
    page.get_by_label("Messages an hour").fill("20")
    page.get_by_role("button", name="Create").click()
    shown = page.get_by_role("dialog").locator("code").inner_text()
    assert tab.problems() == []
    page.get_by_role("button", name="Done").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Pager")
    (made,) = client.get(SUBSCRIPTIONS).body["items"]
    assert shown == secret(made)
    assert shown not in tab.settled().page.content()
    assert (made["config"], made["branches"]) == ({"url": "https://a.example/hook"}, ["main", "release/*"])
    assert made["types"] == ["job.failed", "job.stuck", "approval.forgotten", "release.*"]
    assert (made["at_most_per_hour"], made["enabled"], "schedule" in made) == (20, True, False)


def test_slack_needs_a_name_and_an_address_only_and_an_error_keeps_what_was_entered(
    open_page: Open, client: Client
) -> None:
    page = open_page().view("subscription", part="new").page
    page.get_by_label("Name", exact=True).fill("Team")
    address = page.get_by_label("Incoming webhook URL")
    address.fill("https://example.com/not-slack")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("alert")).to_contain_text("Incoming webhook URL must be the URL of an incoming webhook at")
    expect(page.get_by_label("Name", exact=True)).to_have_value("Team")
    page.get_by_label("Channel").select_option(label="Relaunch")
    expect(page.get_by_role("alert")).to_have_count(0)
    page.get_by_label("Channel").select_option(label="Slack")
    address.fill(SLACK)
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Team")
    (made,) = client.get(SUBSCRIPTIONS).body["items"]
    assert (made["kind"], made["types"], secret(made)) == ("slack", ["job.failed", "job.stuck"], SLACK)
    assert SLACK not in page.content()


def test_saving_a_form_without_a_change_changes_no_field(open_page: Open, client: Client) -> None:
    tab = open_page()
    for kind, fields in ALL_FIELDS.items():
        made = created(client, kind=kind, **fields)
        page = tab.view("subscription", part=made["subscription_id"], edit=1).page
        page.get_by_role("button", name="Save").click()
        page.wait_for_url(f"**/{made['subscription_id']}")
        saved = client.get(path(made)).body
        changed = {name for name in saved if saved[name] != made.get(name)}
        assert changed == {"version", "updated_at"}, (made, saved)


def test_a_test_message_is_shown_until_it_has_ended(open_page: Open, client: Client) -> None:
    created(client, name="Pager")
    tab = open_page(stands_still=False).view("notifications")
    row(tab, "Subscriptions", "Pager").get_by_role("button", name="Test").click()
    tab.page.wait_for_url("**/message/*")
    expect(tab.settled().page.locator(".summary")).to_contain_text("Queued")
    assert tab.problems() == []
    (message,) = client.get(MESSAGES).body["items"]
    complete(message)
    tab.page.clock.run_for(2000)
    expect(tab.page.locator(".summary")).to_contain_text("The receiver accepted it")
    assert tab.facts()["Receiver's message id"] == "n1"
    assert "This is a test of the subscription Pager" in tab.page.locator(".payload").inner_text()


def test_a_failed_message_is_found_and_sent_again(open_page: Open, client: Client) -> None:
    (failed, done) = [today(client).post(f"{path(created(client, name=name))}/test").body for name in ("Down", "Up")]
    fail(client, failed)
    complete(done)
    tab = open_page().view("notifications")
    assert [tile[:2] for tile in tab.lines(".tiles .tile")] == [
        *(["Waiting", "0"], ["Completed", "1"], ["Failed", "1"]),
        *(["Success rate", "50 %"], ["Oldest waiting", NOTHING]),
    ]
    assert row(tab, "Messages", "Up").get_by_role("button").count() == 0
    tab.page.get_by_role("link", name="Failed").click()
    tab.settled()
    assert "status=failed" in tab.page.url
    (listed,) = tab.table("Messages")
    assert (listed["Message"][:2], listed["Error"]) == (["Test from Runledger", "runledger.test · Down"], [f"{ERROR}."])
    row(tab, "Messages", "Down").get_by_role("button", name="Send again").click()
    tab.page.wait_for_url("**/message/*")
    expect(tab.settled().page.locator(".summary")).to_contain_text("Queued")
    assert tab.facts()["Sent again from"] == failed["message_id"]
    tab.page.get_by_role("link", name=failed["message_id"]).click()
    expect(tab.settled().page.locator(".summary")).to_contain_text(ERROR)


def test_an_action_that_the_api_rejects_explains_why(open_page: Open, client: Client) -> None:
    made = created(client)
    failed = today(client).post(f"{path(made)}/test").body
    fail(client, failed)
    tab = open_page().view("message", part=failed["message_id"])
    client.request("DELETE", path(made))
    tab.page.get_by_role("button", name="Send again").click()
    expect(tab.page.get_by_role("alert")).to_contain_text("was deleted or is disabled")


def test_the_health_of_a_receiver_is_in_words(open_page: Open, client: Client) -> None:
    ids = {name: created(client, name=name)["subscription_id"] for name in ("Good", "Slow", "Bad", "New")}
    off = created(client, name="Off", enabled=False)
    table = scene().receivers.table
    for name, is_slow in (("Good", False), ("Slow", True)):
        table.succeeded(INSTALLATION, ids[name], at=TODAY, is_slow=is_slow)
    for _ in range(4):
        table.failed(INSTALLATION, ids["Bad"], at=TODAY, error=ERROR)
    table.pause(INSTALLATION, ids["Bad"], until=times.earlier(TODAY, seconds=-60))
    tab = open_page().view("notifications")
    health = {each["Subscription"][0]: each["Health"] for each in tab.table("Subscriptions")}
    assert health.pop("Bad")[0] == "Failing, paused"
    assert health == {"Good": ["Healthy"], "Slow": ["Slow"], "New": ["No attempts yet"], "Off": ["Disabled"]}
    expect(row(tab, "Subscriptions", "Bad")).to_contain_text(
        f"The last 4 attempts failed. Paused until 12:01:00. {ERROR}"
    )
    assert (
        tab.view("subscription", part=off["subscription_id"]).page.get_by_role("button", name="Send a test").count()
        == 0
    )


def test_an_operator_disables_replaces_the_secret_and_deletes(open_page: Open, client: Client) -> None:
    made = created(client)
    tab = open_page().view("subscription", part=made["subscription_id"])
    dialog, heading = tab.page.get_by_role("dialog"), tab.page.get_by_role("heading", level=1)
    tab.page.get_by_role("button", name="Replace the secret").click()
    assert tab.problems() == []
    dialog.get_by_role("button", name="Replace").click()
    expect(heading).to_have_text("Pager")
    shown = dialog.locator("code").inner_text()
    assert (shown, shown != made["secret"]) == (secret(made), True)
    dialog.get_by_role("button", name="Done").click()
    tab.settled().page.get_by_role("button", name="Disable").click()
    dialog.get_by_role("button", name="Disable").click()
    expect(tab.page.locator(".summary")).to_contain_text("Disabled")
    assert client.get(path(made)).body["enabled"] is False
    tab.page.get_by_role("button", name="Delete").click()
    dialog.get_by_role("button", name="Cancel").click()
    assert client.get(path(made)).status == 200
    tab.page.get_by_role("button", name="Delete").click()
    dialog.get_by_role("button", name="Delete").click()
    expect(tab.page.locator("main")).to_contain_text("No subscriptions yet")
    assert client.get(path(made)).status == 404


def test_a_message_of_ones_own_goes_to_all_subscriptions(open_page: Open, client: Client) -> None:
    for name in ("One", "Two"):
        created(client, name=name)
    tab = open_page().view("notifications")
    tab.page.get_by_role("button", name="Send a message").click()
    dialog = tab.page.get_by_role("dialog")
    dialog.get_by_role("button", name="Send").click()
    expect(dialog.get_by_role("alert")).to_have_text("Enter a text.")
    dialog.get_by_label("Text").fill("The runners are down for maintenance")
    assert tab.problems() == []
    dialog.get_by_role("button", name="Send").click()
    tab.page.wait_for_url("**type=runledger.message")
    tab.settled()
    assert {tuple(each["Message"][:2]) for each in tab.table("Messages")} == {
        ("The runners are down for maintenance", f"runledger.message · {name}") for name in ("One", "Two")
    }
    (message, _) = client.get(MESSAGES).body["items"]
    sent = client.get(f"{MESSAGES}/{message['message_id']}").body["payload"]["data"]
    assert sent == {"text": "The runners are down for maintenance"}


def test_a_visible_tab_counts_the_messages_of_the_day_every_two_minutes_only(open_page: Open, client: Client) -> None:
    client.post(f"{path(created(client))}/test")
    tab, sent = open_page(stands_still=False).view("notifications"), list[str]()
    tab.page.on("request", lambda request: sent.append(request.url.partition("?")[0].rpartition("/")[2]))
    for _ in range(4):
        tab.page.clock.run_for(15_000)
        tab.settled()
    assert sent.count("notifications") == 0
    # A timer begins when the response has arrived, so a busy machine has fewer of them.
    assert min(sent.count("messages"), sent.count("subscriptions")) >= 2
    tab.page.clock.run_for(60_000)
    tab.settled()
    assert sent.count("notifications") == 1


def test_a_reader_sees_everything_and_changes_nothing(open_page: Open, client: Client) -> None:
    made = created(client)
    fail(client, client.post(f"{path(made)}/test").body)
    tab = open_page(role="reader").view("notifications")
    assert tab.page.locator("main").get_by_role("button").count() == 0
    expect(tab.page.locator("main")).to_contain_text("Changing subscriptions requires an operator token.")
    assert (
        tab.view("subscription", part=made["subscription_id"]).page.locator("main").get_by_role("button").count() == 0
    )
    for query in ({"part": "new"}, {"part": made["subscription_id"], "edit": 1}):
        expect(tab.view("subscription", **query).page.locator("main")).to_contain_text("requires an operator token")


def test_without_the_setting_the_page_explains_it_and_the_navigation_has_no_entry(
    chromium: Browser, api: Client, built: Path, ledger: Ledger
) -> None:
    ledger.record(receipt(QUEUED))
    tab = Dashboard(chromium, api, built)
    for view, part in (("notifications", ""), ("subscription", "new"), ("message", "0" * 32)):
        main = tab.view(view, part=part).page.locator("main")
        expect(main).to_contain_text('"feeds": true, "notifications": true')
        assert main.get_by_role("button").count() == 0
    assert tab.page.get_by_role("link", name="Notifications").count() == 0
    tab.close()
    assert tab.troubles == []


@pytest.mark.parametrize("appearance", [{}, {**PHONE, "color_scheme": "dark"}], ids=["desk", "dark phone"])
def test_hostile_names_break_nothing_and_axe_finds_no_violation(
    open_page: Open, client: Client, appearance: dict[str, Any]
) -> None:
    name = HTML.replace("\u202e", "").replace("\u202c", "")
    made = created(client, name=name, branches=["x" * 200], repositories=["r" * 200])
    posted = today(client).post(f"{HERE}/messages", {"text": HTML * 20, "title": HTML}).body["items"][0]
    fail(client, posted)
    tab = open_page(**appearance)
    tab.page.on("dialog", lambda dialog: tab.troubles.append(f"a script ran: {dialog.message}"))
    own_id = made["subscription_id"]
    for view, query in (
        ("notifications", {}),
        ("notifications", {"status": "queued", "type": "audit.finished", "subscription": own_id}),
        ("subscription", {"part": own_id}),
        ("subscription", {"part": own_id, "edit": 1}),
        ("subscription", {"part": "new"}),
        ("subscription", {"part": "0" * 32}),
        ("message", {"part": posted["message_id"]}),
    ):
        problems = tab.view(view, **query).problems()
        assert (view, query, problems, tab.overflow() <= 0) == (view, query, [], True)
        assert tab.page.locator("main img, main script").count() == 0
