"""The App that the guide creates has the permissions and events that the code uses, and no others."""

import json
import re
from pathlib import Path
from urllib.parse import parse_qsl

import pytest

from tests.support.documents import DOCS, rows, section

GUIDE = "github-app.md"
SETTINGS = {"name", "url", "public", "webhook_active", "webhook_url"}
GITHUB = Path(__file__).parent.parent.parent / "node_modules/@octokit/openapi/generated/api.github.com.json"


def parameters() -> list[tuple[str, str]]:
    form = re.search(r'echo "https://github.com/[^?]+\?(.*?)"\n', section(GUIDE, "1. Create the App"), re.DOTALL)
    assert form
    return parse_qsl(form[1].replace("\\\n", ""))


def permissions() -> dict[str, str]:
    return {name: access for name, access in parameters() if name not in SETTINGS and name != "events[]"}


def table(heading: str) -> list[list[str]]:
    return rows(section(GUIDE, "1. Create the App").partition(f"### {heading}\n")[2].partition("\n### ")[0])


def test_the_form_requests_what_the_guide_explains() -> None:
    explained = {cells[2].strip("`") for cells in table("Permissions")}
    assert {f"{name}={access}" for name, access in permissions().items()} == explained
    events = {name for cells in table("Events") for name in re.findall(r"`(\w+)`", cells[1])}
    assert {value for name, value in parameters() if name == "events[]"} == events


def test_the_webhook_is_active_and_the_app_private() -> None:
    given = dict(parameters())
    assert (given["webhook_active"], given["public"]) == ("true", "false")
    assert given["webhook_url"] == "$(output api WebhookUrl)"
    assert "secret" not in given, "GitHub ignores it, and a secret in an address is a leak"


@pytest.mark.parametrize(("name", "access"), permissions().items())
def test_github_has_that_permission(name: str, access: str) -> None:
    known = json.loads(GITHUB.read_text())["components"]["schemas"]["app-permissions"]["properties"]
    assert access in known[name]["enum"]


def test_every_output_that_the_guide_reads_exists() -> None:
    used = set(re.findall(r"\$\(output (\w+) (\w+)\)", (DOCS / GUIDE).read_text()))
    assert used == {
        ("api", "ApiUrl"),
        ("api", "WebhookUrl"),
        ("api", "WebhookSecretArn"),
        ("events", "GitHubAppSecretArn"),
    }
    for stack, output in used:
        source = (DOCS.parent / "stacks" / f"{stack}.py").read_text()
        assert f'"{output}"' in source
