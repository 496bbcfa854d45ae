"""`pip install -r requirements.txt && cdk deploy` works, and only development installs more."""

import json
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from stacks.constructs import web
from stacks.constructs.layer import LOCKS

ROOT = Path(__file__).parent.parent.parent
NEEDS_DEVELOPMENT = (
    *("check", "format", "test", "test-fast", "simulate", "screenshots"),
    *("run", "up", "down", "bench", "bench-compare", "bench-docs", "wheel"),
)
# Loads the stacks as `cdk deploy` does, and prints which distributions that has loaded.
LOADED = """
import importlib.metadata, json, sys
before = set(sys.modules)
import app
loaded = {name.partition(".")[0] for name in set(sys.modules) - before}
owners = importlib.metadata.packages_distributions()
print(json.dumps(sorted({owner for name in loaded for owner in owners.get(name, ())})))
"""


@cache
def planned(target: str) -> str:
    """All commands that the target runs in a fresh clone."""
    make = ["make", "--dry-run", "--always-make", "--no-print-directory", target]
    return subprocess.run(make, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def locked(name: str) -> set[str]:
    return set(re.findall(r"^([\w.-]+)==", (LOCKS / f"{name}.txt").read_text(), re.MULTILINE))


def test_cdk_runs_the_python_on_the_path() -> None:
    assert json.loads((ROOT / "cdk.json").read_text())["app"] == "python3 app.py"


def test_a_deployment_loads_nothing_but_its_own_packages() -> None:
    run = subprocess.run([sys.executable, "-c", LOADED], cwd=ROOT, check=True, capture_output=True, text=True)
    loaded = {re.sub(r"[-_.]+", "-", name).lower() for name in json.loads(run.stdout)}
    assert "aws-cdk-lib" in loaded
    assert loaded <= locked("deploy")


def test_the_dashboard_is_bundled_where_npm_has_installed_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("package.json", "package-lock.json", ".npmrc"):
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    monkeypatch.setenv("npm_config_cache", str(ROOT / ".local" / "cache" / "npm"))
    monkeypatch.setenv("npm_config_prefer_offline", "true")
    monkeypatch.setenv("PATH", f"{Path(sys.prefix) / 'tools'}{os.pathsep}{os.environ['PATH']}")
    version = subprocess.run([web.bundler(tmp_path), "--version"], check=True, capture_output=True, text=True).stdout
    manifest = json.loads((ROOT / "package.json").read_text())
    assert version.strip() == manifest["dependencies"]["esbuild"]
    assert [name for name in manifest["devDependencies"] if (tmp_path / "node_modules" / name).exists()] == []


def test_install_brings_only_what_a_deployment_needs() -> None:
    plan = planned("install")
    assert "requirements/locks/deploy.txt" in plan
    assert "npm ci --omit=dev" in plan
    assert not re.search(r"development\.txt|npm ci;|local\.dynamodb|java", plan)


def test_install_brings_the_command_line_and_what_preflight_needs() -> None:
    assert "--editable ." in planned("install")
    assert {"boto3", "hatchling"} <= locked("deploy")
    assert "development.txt" not in planned("preflight")


def test_install_dev_brings_the_rest() -> None:
    plan = planned("install-dev")
    for needed in ("requirements/locks/development.txt", "npm ci;", "-m local.aws.dynamodb", "java -version"):
        assert needed in plan


@pytest.mark.parametrize("target", NEEDS_DEVELOPMENT)
def test_a_target_that_uses_development_tools_installs_them(target: str) -> None:
    assert "requirements/locks/development.txt" in planned(target)


def test_synth_needs_only_what_a_deployment_needs() -> None:
    assert "requirements/locks/deploy.txt" in planned("synth")
    assert "development.txt" not in planned("synth")
