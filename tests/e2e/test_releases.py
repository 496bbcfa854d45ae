"""A package with three dependents is released, one rebuild fails, and a deployment is rolled back: by the functions as
deployed, from GitHub's webhooks to the API.
"""

from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

import pytest

from local.aws import clients as aws
from local.aws.outputs import Outputs
from local.demo.payloads.publications import release_published
from local.demo.releases import BUILDS, DEPENDENTS, PACKAGE, VARIANTS, VERSION, VERSION_BEFORE
from local.demo.scenarios.releases import ADMIN, CHECKOUT, INSTALLATION, RELEASED, UI, WITHDRAWN
from local.demo.workload import Played
from local.github.control import Control
from tests.e2e.api import call
from tests.support.polling import eventually

HOUR_MS = 3_600_000
MINUTE_MS = 60_000


@pytest.fixture(scope="module")
def deployed(outputs: Outputs, played: Played) -> Outputs:
    assert played
    return outputs


def get(outputs: Outputs, *path: str, **query: Any) -> Any:
    response = call(
        outputs, f"/v1/installations/{INSTALLATION}/{'/'.join(quote(each, safe='') for each in path)}", **query
    )
    assert response.status == 200, response.body
    return response.body


def dispatches(outputs: Outputs) -> dict[str, int]:
    calls = Control(outputs.github_api_url).calls()
    return next(counts for route, counts in calls.items() if route.endswith("/dispatches"))


def test_the_heads_of_the_default_branch_show_what_is_red_and_since_when(deployed: Outputs) -> None:
    found = {each["workflow_name"]: each for each in get(deployed, "heads", repo=UI.full_name)["items"]}
    assert {name: head["state"] for name, head in found.items()} == {"CI": "green", "Docs": "red"}
    tests, documentation = found["CI"], found["Docs"]
    assert tests["since"] == tests["last_run"]["completed_at"]  # the one before was red
    assert tests["previous_run"]["conclusion"] == "failure"
    assert documentation["since"] == documentation["previous_run"]["completed_at"]
    assert documentation["last_green_run"]["run_id"] < documentation["previous_run"]["run_id"]


def test_a_branch_shows_each_commit_with_its_runs(deployed: Outputs) -> None:
    found = get(deployed, "heads", *UI.full_name.split("/"))
    assert found["branch"] == "main"
    names = {each["workflow_id"]: each["workflow_name"] for each in found["workflows"]}
    ended = [{names[run["workflow_id"]]: run["conclusion"] for run in each["runs"]} for each in found["commits"]]
    assert [(each["CI"], each["Docs"]) for each in ended] == [
        ("success", "failure"),
        ("failure", "failure"),
        ("failure", "success"),
        ("success", "success"),
        ("success", "success"),
    ]


def test_an_environment_shows_the_rollback_and_what_it_can_be_rolled_back_to(deployed: Outputs) -> None:
    found = {each["environment"]: each for each in get(deployed, "environments", repo=CHECKOUT.full_name)["items"]}
    production = found["production"]
    assert (production["current"]["version"], production["is_rollback"]) == (RELEASED, True)
    assert (production["is_active"], production["is_production"]) == (True, True)
    assert [each["version"] for each in production["rollback_targets"]] == [WITHDRAWN, "2.2.0"]
    assert (found["staging"]["current"]["version"], found["staging"]["is_rollback"]) == (WITHDRAWN, False)
    details = get(deployed, "environments", *CHECKOUT.full_name.split("/"), environment="production")
    assert [(each["version"], each["state"]) for each in details["deployments"]] == [
        (RELEASED, "success"),
        (WITHDRAWN, "inactive"),
        (RELEASED, "inactive"),
        (RELEASED, "failure"),
        ("2.2.0", "inactive"),
    ]


def test_a_deployment_that_has_not_ended_is_the_latest_and_not_the_current_one(deployed: Outputs) -> None:
    found = {each["environment"]: each for each in get(deployed, "environments", repo=ADMIN.full_name)["items"]}
    production = found["production"]
    assert (production["current"]["version"], production["latest"]["version"]) == ("1.7.0", "1.8.0")
    assert production["latest"]["state"] == "pending"


def test_the_delivery_figures_count_the_failure_and_the_rollback(deployed: Outputs) -> None:
    (found,) = get(deployed, "dora", repo=CHECKOUT.full_name, since="7d")["items"]
    assert (found["deployments"], found["failed_deployments"], found["rolled_back_deployments"]) == (4, 1, 1)
    assert found["change_failure_rate"] == pytest.approx(2 / 5)
    assert found["lead_time_in_ms"] == {
        "p50": 4 * HOUR_MS + 5 * MINUTE_MS,
        "p90": 5 * HOUR_MS + 5 * MINUTE_MS,
        "count": 3,
    }
    assert found["time_to_restore_in_ms"] == {"p50": 2 * HOUR_MS, "p90": 2 * HOUR_MS, "count": 2}


def test_the_dependents_are_rebuilt_in_the_order_of_the_graph_and_one_fails(deployed: Outputs) -> None:
    line = get(deployed, "releases", PACKAGE, VERSION)
    assert (line["status"], line["mode"], line["previous_version"]) == ("failed", "enforce", VERSION_BEFORE)
    assert (line["total_dependents"], line["finished_dependents"], line["failed_dependents"]) == (3, 3, 1)
    found = {each["name"]: each for each in line["dependents"]}
    expected = {"success": "succeeded", "failure": "failed"}
    assert {each.name: found[each.name]["status"] for each in DEPENDENTS} == {
        each.name: expected[each.conclusion] for each in DEPENDENTS
    }
    assert {each.name: found[each.name].get("dependent_version") for each in DEPENDENTS} == {
        each.name: each.version for each in DEPENDENTS
    }
    forms, checkout = found["@acme/forms"], found["@acme/checkout"]
    assert checkout["depends_on"] == ["@acme/forms"]
    assert checkout["dispatched_at"] > forms["dispatched_at"]
    assert checkout["dispatched_at"][:19] >= forms["completed_at"][:19]


def test_the_versions_of_the_rebuilds_join_the_line_and_start_no_others(deployed: Outputs) -> None:
    lines = {(each["name"], each["version"]) for each in get(deployed, "releases")["items"]}
    assert lines == {(PACKAGE, VERSION), (PACKAGE, VERSION_BEFORE)}
    package = get(deployed, "packages", "@acme/forms")
    assert package["version"] == "3.1.1"
    assert [each["name"] for each in package["dependents"]] == ["@acme/checkout"]


def test_builds_count_their_variants(deployed: Outputs) -> None:
    line = get(deployed, "releases", PACKAGE, VERSION)
    assert {each["environment"]: (each["completed_variants"], each["total_variants"]) for each in line["builds"]} == {
        environment: (len(completed), len(VARIANTS)) for environment, completed in BUILDS.items()
    }
    build = get(deployed, "builds", PACKAGE, VERSION, environment="npm")
    assert (build["status"], build["progress"]) == ("completed", 1)
    artifact = build["variants"][0]["artifacts"][0]
    files = get(deployed, "files", artifact["sha256"])["items"]
    assert [(each["package"], each["version"], each["environment"]) for each in files] == [
        *((PACKAGE, VERSION, environment) for environment in sorted(BUILDS))
    ]


def test_a_release_that_is_published_again_dispatches_nothing(deployed: Outputs) -> None:
    before, line = dispatches(deployed), get(deployed, "releases", PACKAGE, VERSION)
    assert sum(before.values()) == len(DEPENDENTS)
    # Another body, which no queue recognises as the same.
    again = release_published(UI, f"v{VERSION}", datetime.now(UTC) - timedelta(seconds=5))
    assert Control(deployed.github_api_url).send("release", again, "again")["status_code"] == 202
    eventually(lambda: not waiting(deployed), "the queues of releases are empty")
    assert dispatches(deployed) == before
    assert get(deployed, "releases", PACKAGE, VERSION) == line


def waiting(outputs: Outputs) -> int:
    """Messages about releases that are in a queue or being handled."""
    sqs = aws.client(outputs, "sqs")
    urls = [url for url in sqs.list_queues()["QueueUrls"] if "Release" in url or "Rebuild" in url]
    assert urls
    names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
    found = [sqs.get_queue_attributes(QueueUrl=url, AttributeNames=names)["Attributes"] for url in urls]
    sqs.close()
    return sum(int(each[name]) for each in found for name in names)
