"""The commands of docs/first-deployment.md work as they stand there, on a stage that is deployed already.

Those that install, deploy and remove are not run here: the fixtures and the upgrade test do the same.
"""

import getpass
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from local.aws import emulator
from local.aws.outputs import Outputs
from local.demo.workload import Played
from tests.support.documents import DOCS, section
from tests.support.running_deployment import Deployment

ROOT = DOCS.parent
DOCUMENT = "first-deployment.md"
SECTIONS = (
    "2. Choose the account and check it",
    "4. Outputs and secrets",
    "5. The first operator token",
    "7. See that it works",
)
NOT_RUN = ("git clone", "make install", "export PATH=", "cdk ")


def commands(text: str) -> list[str]:
    """The commands, with the lines that continue them."""
    return [found.replace("\n", "\n ") for found in re.findall(r"^\$ (.*(?:\n    .*)*)", text, re.MULTILINE)]


def test_only_commands_that_deploy_are_left_out() -> None:
    everything = commands((DOCS / DOCUMENT).read_text())
    run = [command for heading in SECTIONS for command in commands(section(DOCUMENT, heading))]
    assert len(run) >= 11
    assert all(command.startswith(NOT_RUN) for command in everything if command not in run)


@pytest.mark.skipif(not shutil.which("aws"), reason="the document uses the aws command, which is not installed")
def test_the_commands_lead_to_an_operator_that_sees_installations(
    outputs: Outputs, played: Played, tmp_path: Path
) -> None:
    assert played
    lines = [each for each in commands(section(DOCUMENT, "1. Prerequisites")) if each.startswith("export PATH=")]
    assert lines
    for heading in SECTIONS:
        for command in commands(section(DOCUMENT, heading)):
            shown = command.replace("STAGE=trial", "STAGE=local").replace("eu-west-1", outputs.region)
            # The emulator's API is found by its path; and preflight has problems to report, as the document shows.
            shown = shown.replace("RUNLEDGER_API_URL=$(output api ApiUrl)", f"RUNLEDGER_API_URL={outputs.api_url}")
            lines.append(f"{shown} || test $? = 2" if shown.startswith("make preflight") else shown)
    first_use = next(number for number, line in enumerate(lines) if "--oauth2-bearer" in line)
    state = tmp_path / "state"
    printed = run(outputs, [*lines[:first_use], f"{{ declare -px; declare -f; }} > {state}"])
    Deployment(outputs=outputs).restart("api")  # instead of the minute for which it caches the tokens
    printed += run(outputs, [f"source {state}", *lines[first_use:]])
    assert outputs.webhook_secret in printed.splitlines()
    assert '"role": "operator"' in printed.replace('":"', '": "')
    assert "INSTALLATION" in printed
    assert f"ok       operator       local-admin, {getpass.getuser()}" in printed


def run(outputs: Outputs, lines: list[str]) -> str:
    ran = subprocess.run(
        ["bash", "-c", "\n".join(["set -e -o pipefail", *lines])],
        cwd=ROOT,
        env={
            **{name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ},
            **emulator.CREDENTIALS,
            "AWS_ENDPOINT_URL": outputs.endpoint_url,
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout
