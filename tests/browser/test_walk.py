"""A developer looks for a job, and an operator cleans up."""

import secrets
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import expect
from runledger.model import times
from runledger.tables.runners import RunnersTable

from local.aws import clients as aws
from local.aws.outputs import Outputs
from local.demo.generator import PAYMENTS, STOREFRONT
from local.demo.payloads.entities import Job
from local.demo.steps import Step, deliveries
from tests.browser.conftest import Open
from tests.browser.tab import Tab

ACME = STOREFRONT.installation_id


@pytest.fixture(scope="module")
def finished(sent: list[Step]) -> Job:
    """A job of the matrix, which ran on a runner and came to a good end."""
    ended = [each for each in deliveries(sent) if each.payload.get("workflow_job", {}).get("conclusion") == "success"]
    return next(
        each.subject for each in ended if isinstance(each.subject, Job) and each.subject.run.workflow_name == "Matrix"
    )


def test_sign_in_asks_for_a_token_and_rejects_a_wrong_one(open_tab: Open) -> None:
    tab = open_tab()
    tab.page.goto(tab.home)
    tab.page.get_by_label("Access token").fill("not a token")
    tab.page.keyboard.press("Enter")
    expect(tab.page.get_by_role("alert")).to_contain_text("This token isn't valid")


def test_a_token_is_kept_in_session_storage_alone(tab: Tab) -> None:
    kept = tab.page.evaluate("[Object.keys(sessionStorage), Object.keys(localStorage), document.cookie]")
    assert kept == [["runledger.token"], [], ""]
    tab.page.get_by_role("button", name="Sign out").click()
    expect(tab.page.get_by_label("Access token")).to_be_visible()
    assert tab.page.evaluate("Object.keys(sessionStorage)") == []


def test_the_overview_shows_what_runs_and_what_needs_attention(tab: Tab) -> None:
    tab.show(ACME, "overview")
    for label in ("Queued", "In progress", "Success rate", "Spend", "Spot savings", "Interruptions"):
        expect(tab.page.locator(".tile", has_text=label).first).to_be_visible()
    for label in ("Queue time", "Job duration", "Jobs per hour", "Spend per hour"):
        expect(tab.page.get_by_role("group", name=label)).to_be_visible()
    expect(tab.page.locator(".attention li").first).to_be_visible()
    expect(tab.page.get_by_role("status")).to_contain_text("Updated")


def test_jobs_are_filtered_opened_and_followed_to_their_run(tab: Tab, finished: Job) -> None:
    page = tab.show(ACME, "overview").page
    page.get_by_role("link", name="Jobs", exact=True).click()
    page.get_by_label("Repository", exact=True).fill(PAYMENTS.full_name)
    page.get_by_role("button", name="Filter").click()
    tab.settled()
    assert "repo=acme%2Fpayments" in page.url
    page.get_by_role("link", name="Completed").click()
    tab.settled()
    assert set(page.locator("tbody tr small").all_inner_texts()) >= {f"{PAYMENTS.full_name} · Matrix"}
    page.get_by_role("link", name=finished.name).first.click()
    tab.settled()
    expect(page.locator(".timeline li").first).to_contain_text("Created on GitHub")
    for title in ("Queued", "Runner scheduled", "Started", "Completed: success"):
        expect(page.locator(".event-title", has_text=title).first).to_be_visible()
    assert page.locator(".timeline .gap").count() >= 3
    expect(page.locator(".phases")).to_contain_text("Running")
    expect(page.get_by_role("link", name="Open on GitHub")).to_have_attribute("href", finished.html_url)
    page.get_by_role("link", name="Matrix").click()
    tab.settled()
    expect(page.locator(".gantt-names li")).to_have_count(6)
    expect(page.locator(".gantt-names .critical")).to_have_count(1)
    expect(page.locator(".gantt-bars .gantt-work")).to_have_count(6)


def test_what_is_changed_by_an_event_is_shown_on_demand(tab: Tab, finished: Job) -> None:
    page = tab.show(ACME, "job", part=finished.id).page
    changes = page.locator(".changes").first
    expect(changes.locator("dt").first).not_to_be_visible()
    changes.locator("summary").press("Enter")
    expect(changes.locator("dt").first).to_be_visible()


@pytest.mark.parametrize("pasted", ["{job.id}", "{job.html_url}"])
def test_a_job_is_found_by_its_id_or_a_pasted_address(tab: Tab, finished: Job, pasted: str) -> None:
    tab.page.keyboard.press("/")
    tab.page.keyboard.type(pasted.format(job=finished))
    tab.page.keyboard.press("Enter")
    expect(tab.page.get_by_role("heading", level=1)).to_have_text(finished.name)


def test_a_link_shows_the_same_in_another_browser(tab: Tab, open_tab: Open, finished: Job) -> None:
    address = tab.show(ACME, "jobs", repo=PAYMENTS.full_name, conclusion="failure", since="7d").page.url
    seen = tab.page.locator(".row-link").all_inner_texts()
    other = open_tab(alone=True).sign_in()
    other.page.goto(address)
    other.settled()
    assert other.page.locator(".row-link").all_inner_texts() == seen != []
    assert finished.name not in seen


def test_installations_are_switched_in_the_same_view(tab: Tab) -> None:
    page = tab.show(ACME, "pools").page
    page.get_by_label("Installation").select_option(label="Hooks without an App")
    tab.settled()
    assert "#/0/pools" in page.url


@pytest.fixture
def orphan(outputs: Outputs) -> Iterator[str]:
    """A record of a machine that is gone, suspected just now: no pass would clean it yet."""
    client = aws.client(outputs, "dynamodb")
    table = RunnersTable(client, outputs.tables["runners"], retention_days=14)
    now = datetime.now(UTC)
    hour_ago, just_now = (times.from_epoch_ms(round(at.timestamp() * 1000)) for at in (now - timedelta(hours=1), now))
    runner_id = f"i-{secrets.token_hex(8)}"
    about = {"kind": "ec2", "installation_id": ACME, "pool_name": "linux-arm64", "confirmed_at": hour_ago}
    table.change(runner_id, at=hour_ago, change=lambda runner: runner.with_values(**about))
    table.suspect(runner_id, at=just_now, reason="instance_gone")
    yield runner_id
    client.close()


def test_an_operator_has_an_orphan_cleaned_after_confirming_it(tab: Tab, orphan: str) -> None:
    page = tab.show(ACME, "reconciler").page
    row = page.locator("tr", has_text=orphan)
    row.get_by_role("button", name=f"Clean up {orphan}").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    expect(row).to_be_visible()
    row.get_by_role("button", name=f"Clean up {orphan}").click()
    page.get_by_role("dialog").get_by_role("button", name="Clean up").click()
    expect(page.locator(".summary .badge")).to_have_text("Finished")
    expect(page.locator(".findings")).to_contain_text(orphan)
    tab.show(ACME, "reconciler")
    expect(page.locator("tr", has_text=orphan)).to_have_count(0)
    expect(page.locator("tr", has_text="Cleanup").first).to_be_visible()


def test_a_reader_is_offered_nothing_that_changes_anything(tab: Tab, orphan: str) -> None:
    reader = {"id": "token:reader", "name": "reader", "role": "reader", "installations": None}
    tab.page.route("**/v1/me", lambda route: route.fulfill(json=reader))
    tab.page.reload()
    page = tab.show(ACME, "reconciler").page
    expect(page.locator("tr", has_text=orphan)).to_be_visible()
    expect(page.locator("main")).to_contain_text("Cleaning up requires an operator token")
    expect(page.locator("main button")).to_have_count(0)
