"""What `pipx install` brings along: the command, and nothing else of this repository."""

import ast
import re
import shlex
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from runledger_cli import main
from runledger_cli.commands import COMMANDS

from tests.cli.command import PACKAGE_FOLDER, runledger

ROOT = PACKAGE_FOLDER.parent
DOCUMENT = (ROOT / "docs" / "cli.md").read_text()
EXAMPLES = re.findall(r"^\$ runledger (.*?)(?: \| jq .*)?$", DOCUMENT, re.MULTILINE)
NAMES = [command.__name__.rpartition(".")[2] for command in COMMANDS]


def test_only_the_command_is_installed(tmp_path: Path) -> None:
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*pip, "--wheel-dir", tmp_path, ROOT], check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        packed = archive.namelist()
        (metadata,) = (archive.read(name).decode() for name in packed if name.endswith(".dist-info/METADATA"))
    assert {name.partition("/")[0] for name in packed if ".dist-info/" not in name} == {"runledger_cli"}
    assert "Requires-Dist" not in metadata


def test_the_command_needs_nothing_but_python() -> None:
    for file in PACKAGE_FOLDER.rglob("*.py"):
        # Commands that call AWS import boto3 when they run, and explain what to do if it is missing. An import of old
        # webhooks needs a checkout too.
        calls_aws = file.name in ("aws.py", "checkout.py") or file.parent.name == "migration"
        more = {"boto3", "botocore", "runledger", "aws_lambda_powertools"} if calls_aws else set()
        for node in ast.walk(ast.parse(file.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert {name.partition(".")[0] for name in names} <= {*sys.stdlib_module_names, "runledger_cli", *more}


@pytest.mark.parametrize("name", NAMES)
def test_every_command_has_help_with_an_example(name: str) -> None:
    shown = runledger(name, "--help").stdout
    assert f"examples:\n  runledger {name}" in shown


def test_every_command_is_documented() -> None:
    headings = re.findall(r"^## `runledger (\w+)", DOCUMENT, re.MULTILINE)
    assert headings == NAMES


@pytest.mark.parametrize("line", EXAMPLES)
def test_every_example_of_the_documents_is_understood(line: str) -> None:
    assert main.parser().parse_args(shlex.split(line, comments=True)).run


def test_the_version_is_defined_in_one_place() -> None:
    assert re.fullmatch(r"runledger \d+\.\d+\.\d+\n", runledger("--version").stdout)
    assert "\nversion =" not in (ROOT / "pyproject.toml").read_text()
