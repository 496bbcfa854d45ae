"""Layers hold compiled files only of Lambda's own version of Python: it ignores those of any other."""

import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk.assertions import Annotations, Match, Template

from stacks.constructs import layer
from stacks.settings import Settings

SETTINGS = Settings.read(lambda _: None)


@pytest.fixture(autouse=True)
def _fresh() -> Any:
    layer._python_of_lambda.cache_clear()
    yield
    layer._python_of_lambda.cache_clear()


def bundling(wheels: tuple[str, ...] = layer.ON_LAMBDA) -> Any:
    return layer._PipBundling((layer.LAYERS / "domain" / "python",), layer.LOCKS / "domain.txt", wheels, None)


@pytest.fixture
def other_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lambda runs a version that this machine doesn't have."""
    monkeypatch.setattr(layer, "RUNTIME", SimpleNamespace(name="python3.99"))


@pytest.mark.usefixtures("other_python")
def test_another_python_compiles_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ran: list[Any] = []
    assert bundling().compiler() is None
    monkeypatch.setattr(subprocess, "run", lambda command, **_: ran.append(command))
    assert bundling().try_bundle(str(tmp_path))
    assert ["compileall" in command for command in ran] == [False]


@pytest.mark.usefixtures("other_python")
def test_the_python_of_lambda_is_found_on_the_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    python = tmp_path / "python3.99"
    python.write_text("#!/bin/sh\necho python3.99\n")
    python.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert bundling().compiler() == str(python)


def test_a_local_deployment_is_compiled_by_the_python_that_runs_it() -> None:
    assert bundling(wheels=()).compiler() == sys.executable


def test_compiled_files_change_the_fingerprint_of_a_layer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layer, "_python_of_lambda", lambda: None)
    without = bundling().fingerprint()
    monkeypatch.setattr(layer, "_python_of_lambda", lambda: sys.executable)
    assert bundling().fingerprint() != without


@pytest.mark.parametrize("python", [None, sys.executable])
def test_a_deployment_without_compiled_files_warns(monkeypatch: pytest.MonkeyPatch, python: str | None) -> None:
    monkeypatch.setattr(layer, "_python_of_lambda", lambda: python)
    stack = cdk.Stack(cdk.App(context={"aws:cdk:bundling-stacks": []}), "Stack")
    layer.domain_layer(stack, settings=SETTINGS)
    warnings = Annotations.from_stack(stack).find_warning("*", Match.string_like_regexp("no compiled files"))
    assert bool(warnings) is (python is None)


def test_a_changed_handler_changes_the_domain_layer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without the handlers in the layer, no function could be loaded: its own code is a constant file."""
    handlers = shutil.copytree(layer.HANDLERS, tmp_path / "functions")
    monkeypatch.setattr(layer, "HANDLERS", handlers)
    before = _key_of_domain_layer()
    assert _key_of_domain_layer() == before
    (handlers / "webhook_intake.py").write_text("changed = True\n")
    assert _key_of_domain_layer() != before


def _key_of_domain_layer() -> str:
    stack = cdk.Stack(cdk.App(context={"aws:cdk:bundling-stacks": []}), "Stack")
    layer.domain_layer(stack, settings=SETTINGS)
    (found,) = Template.from_stack(stack).find_resources("AWS::Lambda::LayerVersion").values()
    return str(found["Properties"]["Content"]["S3Key"])
