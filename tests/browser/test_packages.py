"""Packages and builds in the browser: dependents, versions, progress, reasons of failures, and artifacts."""

from typing import Any

from playwright.sync_api import expect

from local.demo.releases import BUILDS, PACKAGE, VARIANTS, VERSION
from local.demo.scenarios.releases import INSTALLATION
from tests.browser.conftest import Open
from tests.browser.tab import CANNED, PHONE, Tab

AT = "2025-01-15T10:00:00.000Z"
BUILD: dict[str, Any] = {
    "name": "ui",
    "version": "1.0.0",
    "environment": "npm",
    "status": "failed",
    "total_variants": 3,
    "completed_variants": 1,
    "failed_variants": 1,
    "progress": 0.3333,
    "error": True,
    "created_at": AT,
    "updated_at": AT,
    "completed_at": None,
    "variants": [
        {"variant": "cjs", "status": "completed", "artifacts": [], "reported_at": AT},
        {"variant": "esm", "status": "failed", "message": "Disk full", "artifacts": [], "reported_at": AT},
        {"variant": "umd", "status": "started", "artifacts": [], "reported_at": AT},
    ],
    "events": [],
}
LINE: dict[str, Any] = {
    "name": "ui",
    "version": "1.0.0",
    "status": "planned",
    "mode": "dry_run",
    "published_at": AT,
    "total_dependents": 3,
    "finished_dependents": 0,
    "failed_dependents": 0,
    "progress": 0.0,
}


def test_a_package_shows_what_a_release_of_it_rebuilds(tab: Tab) -> None:
    page = tab.show(INSTALLATION, "releases").page
    page.get_by_role("table", name="Packages").get_by_role("link", name=PACKAGE, exact=True).click()
    expect(tab.settled().page.get_by_role("heading", level=1)).to_have_text(PACKAGE)
    dependents = page.get_by_role("table", name="Packages that depend on this one").locator("tbody tr")
    assert [text.split() for text in dependents.all_inner_texts()] == [
        ["@acme/admin", "^1.0.0"],
        ["@acme/checkout", "^1.4.0"],
        ["@acme/forms", "^1.2.0"],
    ]
    dependents.filter(has_text="@acme/checkout").get_by_role("link").click()
    expect(tab.settled().page.get_by_role("heading", level=1)).to_have_text("@acme/checkout")
    expect(page.locator("main")).to_contain_text("@acme/ui ^1.4.0, @acme/forms ^3.0.0")
    expect(page.locator("main")).to_contain_text("A version appears when it is published")


def test_a_version_of_a_rebuild_leads_to_the_release_for_which_it_was_rebuilt(tab: Tab) -> None:
    page = tab.show(INSTALLATION, "packages", part="@acme/forms").page
    versions = page.get_by_role("table", name="Published versions").locator("tbody tr")
    expect(versions).to_contain_text(f"rebuilt for {PACKAGE} {VERSION}")
    versions.get_by_role("link", name="3.1.1").click()
    expect(tab.settled().page.get_by_role("heading", level=1)).to_have_text(f"{PACKAGE} {VERSION}")
    page.go_back()
    expect(tab.settled().page.get_by_role("heading", level=1)).to_have_text("@acme/forms")
    tab.show(INSTALLATION, "release", part="@acme/forms", version="3.1.1")
    expect(page.get_by_role("heading", level=1)).to_have_text(f"{PACKAGE} {VERSION}")


def test_a_build_shows_its_variants_and_artifacts(tab: Tab) -> None:
    page = tab.show(INSTALLATION, "packages", part=PACKAGE).page
    builds = page.get_by_role("table", name="Builds").locator("tbody tr")
    expect(builds).to_have_count(len(BUILDS))
    builds.filter(has_text="cdn").get_by_role("link").click()
    expect(tab.settled().page.get_by_role("heading", level=1)).to_have_text(f"{PACKAGE} {VERSION} in cdn")
    expect(page.locator("main")).to_contain_text("2 of 3")
    variants = page.get_by_role("table", name="Variants of this build").locator("tbody tr")
    expect(variants).to_have_count(len(VARIANTS))
    artifact = variants.filter(has_text="esm").get_by_role("link")
    expect(artifact).to_have_attribute("href", f"https://cdn.example.com/ui-{VERSION}.esm.js")
    expect(variants.filter(has_text="umd")).to_contain_text("Started")


def test_a_failed_variant_comes_first_with_its_reason(tab: Tab) -> None:
    tab.fulfill(f"installations/{CANNED}/builds/ui/1.0.0", BUILD)
    page = tab.show(CANNED, "build", part="ui", version="1.0.0", environment="npm").page
    variants = page.get_by_role("table", name="Variants of this build").locator("tbody tr")
    assert [text.split()[0] for text in variants.all_inner_texts()] == ["esm", "umd", "cjs"]
    expect(variants.first).to_contain_text("Disk full")
    expect(page.locator("main")).to_contain_text("33 %, 1 failed")
    assert tab.problems() == []


def test_a_dry_run_shows_what_is_planned_and_no_progress(tab: Tab) -> None:
    tab.fulfill(f"installations/{CANNED}/releases", {"items": [LINE], "next_cursor": None})
    tab.fulfill(f"installations/{CANNED}/packages", {"items": [], "next_cursor": None})
    page = tab.show(CANNED, "releases").page
    row = page.get_by_role("table", name="Published versions").locator("tbody tr")
    expect(row).to_contain_text("3 planned")
    expect(row.locator(".meter")).to_have_count(0)


def test_figures_of_another_environment_do_not_name_production(tab: Tab) -> None:
    page = tab.show(INSTALLATION, "environment", part="acme/ui", environment="qa").page
    expect(page.locator("main")).to_contain_text("No deployment to qa was found.")
    expect(page.locator("main")).not_to_contain_text("No production environment")


def test_a_phone_shows_the_version_of_a_release_and_why_a_rebuild_failed(open_tab: Open) -> None:
    tab = open_tab(**PHONE).sign_in().show(INSTALLATION, "releases")
    name = tab.page.get_by_role("link", name=f"{PACKAGE} {VERSION}", exact=True)
    assert name.evaluate("link => link.scrollWidth <= link.clientWidth")
    tab.show(INSTALLATION, "release", part=PACKAGE, version=VERSION)
    expect(tab.page.get_by_text("The run ended with failure")).to_be_visible()
