"""The whole app, deployed by the real `cdk deploy` to an embedded AWS of this test run, and the demo played on it."""

import os
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

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

SHARE_IT = ("tests/e2e/", "tests/browser/")
UPGRADES_ITS_OWN = "tests/upgrade/"
HAS_BEGUN = pytest.StashKey[bool]()
# What takes longest comes first, so that no process waits for another in the end. Tests in the browser come after all
# others of the deployment, so that none has to expect what they change.
FIRST = (*SHARE_IT, UPGRADES_ITS_OWN, "tests/reconciler/", "tests/simulation/", "tests/stacks/", "tests/tables/")


class OneDeployment(LoadScopeScheduling):  # type: ignore[misc]
    """One is enough, however many processes the tests run in: those that share it run in one, and that one first.

    Other tests of a file run in one process too, so that what they share is made once.
    """

    def _split_scope(self, nodeid: str) -> str:
        return "deployment" if nodeid.startswith(SHARE_IT) else nodeid.partition("::")[0]


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> OneDeployment:
    config.option.loadscopereorder = False  # the order below is better than by number of tests
    return OneDeployment(config, log)


def place(nodeid: str) -> int:
    return next((number for number, folder in enumerate(FIRST) if nodeid.startswith(folder)), len(FIRST))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.nodeid.startswith(SHARE_IT):
            item.add_marker(pytest.mark.server)
    items.sort(key=lambda item: place(item.nodeid))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """The tests of the deployment take longest, one after the other: processes that begin with others yield to them."""
    if "PYTEST_XDIST_WORKER" in os.environ and not item.config.stash.get(HAS_BEGUN, False):
        item.config.stash[HAS_BEGUN] = True
        if not item.nodeid.startswith(SHARE_IT):
            os.nice(5)


@pytest.fixture(scope="session")
def deployed_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("deployed")


@pytest.fixture(scope="session")
def outputs(deployed_folder: Path) -> Iterator[Outputs]:
    with emulator.running(deployed_folder) as aws_url, simulator.running(deployed_folder) as github_url:
        deployed = deployment.deploy(aws_url, deployed_folder, github_api_url=github_url)
        pause_schedules(deployed)
        yield deployed


def pause_schedules(outputs: Outputs) -> None:
    """A pass of the reconciler that comes by itself, in the midst of a test, would make it another test each time."""
    with closing(aws.client(outputs, "events")) as events:
        for rule in events.list_rules()["Rules"]:
            if "ScheduleExpression" in rule:
                events.disable_rule(Name=rule["Name"])
    with closing(aws.client(outputs, "scheduler")) as scheduler:
        for each in scheduler.list_schedules()["Schedules"]:
            found = scheduler.get_schedule(Name=each["Name"], GroupName=each["GroupName"])
            names = ("Name", "GroupName", "ScheduleExpression", "Target", "FlexibleTimeWindow")
            scheduler.update_schedule(**{name: found[name] for name in names}, State="DISABLED")


@pytest.fixture(scope="session")
def reruns_before(outputs: Outputs) -> int:
    return reruns(outputs)


@pytest.fixture(scope="session")
def played(outputs: Outputs, reruns_before: int) -> Played:
    assert reruns_before >= 0
    return demo.send(outputs, now=datetime.now(UTC))


@pytest.fixture(scope="session")
def sent(played: Played) -> list[Step]:
    return played.steps


def reruns(outputs: Outputs) -> int:
    calls = Control(outputs.github_api_url).calls()
    return sum(counts.get("201", 0) for route, counts in calls.items() if "rerun-failed-jobs" in route)
