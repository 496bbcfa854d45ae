"""The page with the OpenAPI document, in a real browser and under its content security policy."""

from playwright.sync_api import expect

from local.aws.outputs import Outputs
from tests.browser.conftest import Open


def test_the_openapi_document_is_shown_and_can_be_tried(open_tab: Open, outputs: Outputs) -> None:
    """A violation of the policy would be a message on the console, which fails the test."""
    tab = open_tab()
    tab.page.goto(f"{tab.home}docs")
    expect(tab.page.locator(".opblock-summary-path", has_text="/v1/me").first).to_be_visible()
    tab.page.get_by_role("button", name="Authorize").first.click()
    tab.page.get_by_label("auth-bearer-value").fill(outputs.admin_token)
    tab.page.get_by_role("button", name="Apply credentials").click()
    tab.page.locator(".btn-done").click()
    operation = tab.page.locator(".opblock", has_text="/v1/me").first
    operation.locator(".opblock-summary-control").click()
    operation.get_by_role("button", name="Try it out").click()
    operation.get_by_role("button", name="Execute").click()
    expect(operation.locator(".live-responses-table").first).to_contain_text("token:local-admin")
