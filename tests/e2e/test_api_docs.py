"""Every command in docs/api.md works as it stands there."""

import hashlib
import json
import os
import re
import subprocess
import sys
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest
from runledger.model.places import Place
from runledger.tables.runners import RunnersTable

from local.aws.outputs import Outputs
from local.demo.releases import PACKAGE, VERSION
from local.demo.scenarios.releases import CHECKOUT
from local.demo.scenarios.releases import INSTALLATION as DEMO
from local.demo.workload import Played
from local.github.control import Control
from local.github.records import Installation, Job, Run
from tests.e2e.api import call
from tests.e2e.test_webhooks import NO_INSTANCE
from tests.support.documents import DOCS, section
from tests.support.runner_items import launched
from tests.support.shell import commands
from tests.support.webhooks import DEPLOYMENT, LIFE, REPO, payload

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

DOCUMENT = "api.md"
COMMANDS = [each for each in commands(section(DOCUMENT, "Requests")) if each.startswith(("curl ", "runledger "))]
BASE = "$RUNLEDGER_API_URL/v1/installations/$INSTALLATION"
ACCOUNT = "000000000000"
INSTALLATION, JOB, RUN, RUNNER = 77_000_001, 7_000_001, 7_100_001, "i-0dead0000000d0c5"
AT = "2025-01-15T10:00:00.000Z"
IS_OF_RELEASES = re.compile(
    r"/(heads|environments|dora|builds|files|packages|releases)\b|runledger (heads|env|dora|release)"
)
WRITES = "-X PUT"


@pytest.fixture(scope="module")
def variables(outputs: Outputs, dynamodb: "DynamoDBClient") -> dict[str, str]:
    """A job whose run failed, from webhooks of the simulated GitHub; an orphan; and a pass that was requested."""
    github = Control(outputs.github_api_url)
    github.configure(webhook_url=outputs.webhook_url, webhook_secret=outputs.webhook_secret)
    github.put(Installation(id=INSTALLATION, account=REPO.partition("/")[0], created_at=AT))
    github.put(Run(id=RUN, repository=REPO, status="completed", conclusion="failure", created_at=AT))
    github.put(Job(id=JOB, run_id=RUN, status="completed", conclusion="failure", created_at=AT))
    delivery = str(uuid.uuid4())
    for step in LIFE:
        changes = {"run_id": RUN, "runner_name": NO_INSTANCE} | ({"conclusion": "failure"} if step == LIFE[-1] else {})
        message = payload(step, job_id=JOB, **changes)
        message["installation"]["id"] = INSTALLATION
        github.send("workflow_job", message, delivery if step == LIFE[-1] else str(uuid.uuid4()))
    runners = RunnersTable(dynamodb, outputs.tables["runners"], retention_days=14)
    launched(runners, RUNNER, installation_id=INSTALLATION, job_id=JOB, at=AT, kind="ec2")
    # EC2 has confirmed it and doesn't know it any more, so a pass suspects it as well.
    place = Place(account_id=ACCOUNT, region=outputs.region)
    runners.change(RUNNER, at=AT, change=lambda runner: runner.with_values(kind="ec2").confirmed(AT, place))
    runners.suspect(RUNNER, at=AT, reason="job_completed")
    requested = call(outputs, "/admin/reconciliation/run", method="POST", body={"pass": "quick"})
    return {
        "RUNLEDGER_API_URL": outputs.api_url,
        "RUNLEDGER_TOKEN": outputs.admin_token,
        "INSTALLATION": str(INSTALLATION),
        "REPO": REPO,
        "RUN": str(RUN),
        "JOB": str(JOB),
        "DEPLOYMENT": str(DEPLOYMENT),
        "RUNNER": RUNNER,
        "DELIVERY": delivery,
        "PASS": requested.body["id"],
    }


@pytest.fixture(scope="module")
def released(variables: dict[str, str], played: Played) -> dict[str, str]:
    """The package of the demo."""
    assert played
    artifact = hashlib.sha256(f"ui-{VERSION}.esm.js".encode()).hexdigest()
    about = {"PACKAGE": quote(PACKAGE, safe=""), "VERSION": VERSION, "SHA256": artifact}
    return variables | about | {"INSTALLATION": str(DEMO), "REPO": CHECKOUT.full_name}


@pytest.fixture(scope="module")
def registered(outputs: Outputs, variables: dict[str, str]) -> dict[str, str]:
    """A package of another installation, so that reports don't change the demo's."""
    package = f"/v1/installations/{INSTALLATION}/packages/docs"
    assert call(outputs, package, method="PUT", body={"repo_full_name": REPO}).status == 200
    return variables | {"PACKAGE": "docs", "VERSION": "2.1.0", "SHA256": "a" * 64}


def run(command: str, variables: dict[str, str]) -> str:
    paths = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euc", f"export BASE={BASE}\n{command}"],
        env={"PATH": paths, **variables},
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_document_sets_the_address_that_its_commands_begin_with() -> None:
    assert f"export BASE={BASE}" in commands((DOCS / DOCUMENT).read_text())


def test_there_is_a_command_for_every_operation(outputs: Outputs) -> None:
    """Except for the feed and notifications, which this deployment doesn't have: docs/feed.md and
    docs/notifications.md have their commands.
    """
    elsewhere = ("/feed", "/subscriptions", "/messages", "/notifications")
    described = [path for path in call(outputs, "/openapi.json").body["paths"] if not any(map(path.count, elsewhere))]
    called = [command.replace("$BASE", BASE).partition("$RUNLEDGER_API_URL")[2] for command in COMMANDS]
    paths = [path.replace("$REPO", "*/*").partition("?")[0].partition('"')[0] for path in called]
    shown = {re.sub(r"\$[A-Z0-9_]+", "*", path) for path in paths}
    assert {re.sub(r"\{\w+\}", "*", path) for path in described} <= shown
    assert len(COMMANDS) >= 68
    assert sum(command.startswith("runledger") for command in COMMANDS) >= 19


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_document_works_as_written(request: pytest.FixtureRequest, command: str) -> None:
    about = "variables"
    if IS_OF_RELEASES.search(command):
        about = "registered" if WRITES in command else "released"
    output = run(command, request.getfixturevalue(about))
    if command.startswith("curl"):
        response: Any = json.loads(output)
        assert "title" not in response, output
