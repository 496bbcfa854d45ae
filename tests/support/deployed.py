"""The whole app, deployed by the real `cdk deploy` to an emulated AWS of this test run, and the demo played on it.

There are two deployments: one as `make run` has it, and a complete one, with every optional part on. However many
processes the tests run in, the tests of a deployment run in one, one after the other, and before all other tests.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import boto3
import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from local.aws import clients as aws
from local.aws import deployment, emulator
from local.aws.outputs import Outputs
from local.demo import workload as demo
from local.demo.steps import Step
from local.demo.workload import Played
from local.github import simulator
from local.github.control import Control

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

DEPLOYMENTS = {
    "tests/e2e/": "deployment",
    "tests/browser/": "deployment",  # last, because they change items that the others read
    "tests/complete/": "complete deployment",
}
LONGEST = "deployment"
HAS_BEGUN = pytest.StashKey[bool]()
# What takes longest comes first, so that no process waits for another in the end.
FIRST = (
    *DEPLOYMENTS,
    "tests/upgrade/",
    *("tests/reconciler/", "tests/simulation/", "tests/stacks/", "tests/tables/"),
)


def deployment_of(nodeid: str) -> str | None:
    return next((name for folder, name in DEPLOYMENTS.items() if nodeid.startswith(folder)), None)


class OncePerDeployment(LoadScopeScheduling):  # type: ignore[misc]
    """All tests of a deployment, or of another file, run in one process: their shared fixtures are created once."""

    def _split_scope(self, nodeid: str) -> str:
        return deployment_of(nodeid) or nodeid.partition("::")[0]


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> OncePerDeployment:
    config.option.loadscopereorder = False  # the order below is better than by number of tests
    return OncePerDeployment(config, log)


def place(nodeid: str) -> int:
    return next((number for number, folder in enumerate(FIRST) if nodeid.startswith(folder)), len(FIRST))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if deployment_of(item.nodeid):
            item.add_marker(pytest.mark.server)
    items.sort(key=lambda item: place(item.nodeid))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """The tests of the deployment take longest, and run in one process. All other processes get a lower priority."""
    if "PYTEST_XDIST_WORKER" in os.environ and not item.config.stash.get(HAS_BEGUN, False):
        item.config.stash[HAS_BEGUN] = True
        if deployment_of(item.nodeid) != LONGEST:
            os.nice(5)


@pytest.fixture(scope="session")
def deployed_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("deployed")


@pytest.fixture(scope="session")
def outputs(deployed_folder: Path) -> Iterator[Outputs]:
    with deployed(deployed_folder) as outputs:
        yield outputs


@contextmanager
def deployed(folder: Path, *, settings: Mapping[str, str] | None = None) -> Iterator[Outputs]:
    with emulator.running(folder) as aws_url, simulator.running(folder) as github_url:
        outputs = deployment.deploy(aws_url, folder, github_api_url=github_url, settings=settings)
        pause_schedules(outputs)
        yield outputs


def pause_schedules(outputs: Outputs) -> None:
    """A pass that the schedule starts during a test would change its result."""
    with closing(aws.client(outputs, "events")) as events:
        for rule in events.list_rules()["Rules"]:
            if "ScheduleExpression" in rule:
                events.disable_rule(Name=rule["Name"])
    with closing(aws.client(outputs, "scheduler")) as scheduler:
        for each in scheduler.list_schedules()["Schedules"]:
            found = scheduler.get_schedule(Name=each["Name"], GroupName=each["GroupName"])
            names = ("Name", "GroupName", "ScheduleExpression", "Target", "FlexibleTimeWindow")
            scheduler.update_schedule(**{name: found[name] for name in names}, State="DISABLED")


@pytest.fixture(scope="module")
def dynamodb(outputs: Outputs) -> Iterator["DynamoDBClient"]:
    client = boto3.client("dynamodb", endpoint_url=outputs.endpoint_url, region_name=outputs.region)
    yield client
    client.close()


@pytest.fixture(scope="session")
def reruns_before(outputs: Outputs) -> int:
    return reruns(outputs)


@pytest.fixture(scope="session")
def played(outputs: Outputs, reruns_before: int) -> Played:
    del reruns_before  # counted first: the demo may re-run jobs
    return demo.send(outputs, now=datetime.now(UTC))


@pytest.fixture(scope="session")
def sent(played: Played) -> list[Step]:
    return played.steps


def reruns(outputs: Outputs) -> int:
    calls = Control(outputs.github_api_url).calls()
    return sum(counts.get("201", 0) for route, counts in calls.items() if "rerun-failed-jobs" in route)
