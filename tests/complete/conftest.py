"""A second deployment, with the feed and notifications on. Its tests run beside those of the first one."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from local.aws.outputs import Outputs
from local.demo import workload as demo
from local.demo.workload import Played
from tests.complete.deployed_feed import until_quiet
from tests.support.deployed import deployed

SETTINGS = {"feeds": "true", "notifications": "true", "notification_allow_loopback": "true"}


@pytest.fixture(scope="session")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Outputs]:
    with deployed(tmp_path_factory.mktemp("complete"), settings=SETTINGS) as outputs:
        yield outputs


@pytest.fixture(scope="session")
def played(outputs: Outputs) -> Played:
    played = demo.send(outputs, now=datetime.now(UTC))
    until_quiet(outputs)
    return played
