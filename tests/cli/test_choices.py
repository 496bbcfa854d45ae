"""The package is installed without the domain, so it repeats some of its values."""

import ast
from pathlib import Path

import pytest
from runledger.model.inputs import Status
from runledger.model.job import FAILURES
from runledger.model.messages import MessageStatus
from runledger.notifications.channels.interface import ChannelKind
from runledger_api.authentication import Role
from runledger_api.routes.reconciliation import STATES
from runledger_cli import api_tokens
from runledger_cli.commands import jobs, messages, orphans, subscriptions
from runledger_cli.rendering import run_details

COMMANDS = sorted(Path(jobs.__file__).parent.glob("[a-z]*.py"))


def test_the_choices_of_options_are_those_of_the_api() -> None:
    assert set(jobs.STATUSES) == set(Status)
    assert set(messages.STATUSES) == set(MessageStatus)
    assert set(subscriptions.KINDS) == set(ChannelKind)
    assert set(orphans.NONE) == set(STATES)
    assert tuple(api_tokens.ROLES) == tuple(Role)


def test_the_same_conclusions_count_as_failures() -> None:
    assert set(run_details.FAILURES) == set(FAILURES)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.stem)
def test_a_command_leaves_tables_to_rendering(command: Path) -> None:
    modules = {node.module for node in ast.walk(ast.parse(command.read_text())) if isinstance(node, ast.ImportFrom)}
    assert "runledger_cli.rendering.tables" not in modules
