"""`python -m local.screenshots`: takes the screenshots in docs/images, from a new deployment with the demo."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from local import ROOT
from local.aws import deployment, emulator
from local.browser import running as running_browser
from local.demo import workload as demo
from local.demo.generator import STOREFRONT
from local.demo.releases import PACKAGE, VERSION
from local.demo.scenarios.releases import UI
from local.demo.steps import bus_events, deliveries
from local.github import simulator
from local.processes import LocalError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

    from local.aws.outputs import Outputs
    from local.demo.steps import Step

IMAGES = ROOT / "docs" / "images"
DESK = {"viewport": {"width": 1280, "height": 840}, "device_scale_factor": 1.5}
PHONE = {"viewport": {"width": 390, "height": 840}, "device_scale_factor": 2, "is_mobile": True, "has_touch": True}
DARK = {"color_scheme": "dark"}
_TIMEOUT_MS = 60_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    name: str
    address: str
    options: dict[str, Any] = field(default_factory=lambda: DESK)


def pictures(steps: list[Step]) -> Iterator[Picture]:
    """Views of the demo's incidents."""
    (interrupted,) = {each.subject for each in bus_events(steps) if each.detail.get("stopCode") == "SpotInterruption"}
    at = STOREFRONT.installation_id
    reviews = [each for each in deliveries(steps) if each.event == "deployment_review"]
    (approved,) = {each.subject for each in reviews if each.payload["action"] == "approved"}
    matrix = next(each.subject.run for each in bus_events(steps) if each.subject.run.workflow_name == "Matrix")
    yield Picture(name="overview", address=f"#/{at}/overview")
    yield Picture(name="job", address=f"#/{at}/job/{interrupted.id}", options=DESK | DARK)
    yield Picture(name="approval", address=f"#/{at}/job/{approved.id}")
    yield Picture(name="run", address=f"#/{at}/run/{matrix.id}")
    yield Picture(name="phone", address=f"#/{at}/overview", options=PHONE)
    yield Picture(name="heads", address=f"#/{at}/branch/{quote(UI.full_name, safe='')}")
    yield Picture(name="environments", address=f"#/{at}/environments")
    yield Picture(
        name="release", address=f"#/{at}/release/{quote(PACKAGE, safe='')}?version={VERSION}", options=DESK | DARK
    )


def shoot(browser: Browser, outputs: Outputs, picture: Picture) -> None:
    context = browser.new_context(timezone_id="UTC", locale="en-GB", **picture.options)
    context.set_default_timeout(_TIMEOUT_MS)
    page = context.new_page()
    page.goto(f"{outputs.api_url}/{picture.address}")
    page.get_by_label("Access token").fill(outputs.admin_token)
    page.get_by_role("button", name="Sign in").click()
    page.locator("main .panel").first.wait_for()
    page.locator("[aria-busy=true]").first.wait_for(state="detached")
    page.screenshot(path=IMAGES / f"{picture.name}.png")
    context.close()
    print(f"  {(IMAGES / picture.name).relative_to(ROOT)}.png")


def main() -> None:
    IMAGES.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as folder, running_browser() as browser:
        here = Path(folder)
        with emulator.running(here) as aws_url, simulator.running(here) as github_url:
            outputs = deployment.deploy(aws_url, here, github_api_url=github_url)
            steps = demo.send(outputs, now=datetime.now(UTC)).steps
            print("Taking screenshots")
            for picture in pictures(steps):
                shoot(browser, outputs, picture)


if __name__ == "__main__":
    try:
        main()
    except LocalError as error:
        sys.exit(f"runledger: {error}")
