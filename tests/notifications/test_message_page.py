"""Messages on the page that wait, were sent again, or can't be: in a real browser."""

import pytest
from playwright.sync_api import expect
from runledger.model import times
from runledger.tables.messages import NextAttempt

from tests.api.client import Client
from tests.figures.page import chromium
from tests.notifications.api_scene import MESSAGES, api, client, created, fail, ledger, path, world
from tests.notifications.page_scene import TODAY, Open, built, open_page, row, scene, today
from tests.support.webhooks import INSTALLATION

__all__ = ["api", "built", "chromium", "client", "ledger", "open_page", "world"]

pytestmark = pytest.mark.server

IN_A_MINUTE = times.earlier(TODAY, seconds=-60)


def test_a_message_for_a_paused_receiver_names_the_next_attempt(open_page: Open, client: Client) -> None:
    message = today(client).post(f"{path(created(client))}/test").body
    table = scene().messages
    stored = table.get(INSTALLATION, message["message_id"])
    assert stored
    assert table.defer(stored, NextAttempt(at=IN_A_MINUTE, parked=False, dispatch=2), at=TODAY)
    summary = open_page().view("message", part=message["message_id"]).page.locator(".summary")
    expect(summary).to_contain_text("The receiver failed before and is paused. The next attempt is at 12:01:00.")


def test_an_error_of_a_receiver_is_a_sentence(open_page: Open, client: Client) -> None:
    message = today(client).post(f"{path(created(client))}/test").body
    table = scene().messages
    claimed = table.claim(table.get(INSTALLATION, message["message_id"]) or {}, at=TODAY, until=IN_A_MINUTE)
    assert claimed
    waits = NextAttempt(at=IN_A_MINUTE, parked=False, dispatch=2)
    assert table.retry(claimed, waits, at=TODAY, error="the connection was refused")
    tab = open_page().view("message", part=message["message_id"])
    expect(tab.page.locator(".summary")).to_contain_text(
        "The connection was refused. It will be sent again at 12:01:00."
    )
    assert tab.facts()["Subscription"] == "Pager"


def test_a_message_that_was_sent_again_links_to_the_new_one(open_page: Open, client: Client) -> None:
    failed = today(client).post(f"{path(created(client))}/test").body
    fail(client, failed)
    again = client.post(f"{MESSAGES}/{failed['message_id']}/send-again").body["message_id"]
    tab = open_page().view("notifications", status="failed")
    listed = row(tab, "Messages", "Pager")
    assert listed.get_by_role("button").count() == 0
    listed.get_by_role("link", name="Sent again").click()
    tab.page.wait_for_url(f"**/message/{again}")
    tab.view("message", part=failed["message_id"])
    assert tab.facts()["Sent again as"] == again


def test_a_message_of_a_deleted_subscription_cant_be_sent_again(open_page: Open, client: Client) -> None:
    made = created(client)
    failed = today(client).post(f"{path(made)}/test").body
    fail(client, failed)
    client.request("DELETE", path(made))
    tab = open_page().view("notifications")
    assert row(tab, "Messages", "Deleted subscription").get_by_role("button").count() == 0
    tab.view("message", part=failed["message_id"])
    assert tab.page.get_by_role("button", name="Send again").count() == 0
    assert tab.facts()["Subscription"] == "Deleted"
