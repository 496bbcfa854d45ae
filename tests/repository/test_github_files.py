"""Files that GitHub reads: valid by their schemas, and workflows that hold no more rights than they need."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parent.parent.parent
GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
FORMS = sorted(file for file in (GITHUB / "ISSUE_TEMPLATE").glob("*.yml") if file.name != "config.yml")
SCHEMAS = {
    "vendor.github-workflows": WORKFLOWS,
    "custom.github-workflows-require-timeout": WORKFLOWS,
    "vendor.github-issue-forms": FORMS,
    "vendor.github-issue-config": [GITHUB / "ISSUE_TEMPLATE" / "config.yml"],
    "vendor.dependabot": [GITHUB / "dependabot.yml"],
}
PINNED = re.compile(r"^ *(?:- )?uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$")
MANIFESTS = {"pip": "*.txt", "npm": "package.json", "github-actions": ".github/workflows/*.yml"}


def read(file: Path) -> Any:
    return yaml.safe_load(file.read_text())


def jobs() -> dict[str, dict[str, Any]]:
    return {f"{file.stem}/{name}": job for file in WORKFLOWS for name, job in read(file)["jobs"].items()}


def steps(job: dict[str, Any], action: str) -> list[dict[str, Any]]:
    return [step for step in job["steps"] if step.get("uses", "").startswith(f"{action}@")]


@pytest.mark.parametrize("schema", SCHEMAS)
def test_a_file_is_valid_by_its_schema(schema: str) -> None:
    check = Path(sys.executable).with_name("check-jsonschema")
    files = SCHEMAS[schema]
    assert files
    run = subprocess.run(
        [check, "--builtin-schema", schema, *files], cwd=ROOT, check=False, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.name)
def test_actions_are_pinned_by_commit_and_named_by_version(file: Path) -> None:
    used = [line for line in file.read_text().splitlines() if "uses:" in line]
    assert used
    assert [line for line in used if not PINNED.match(line)] == []


def test_one_commit_stands_for_one_version() -> None:
    used = {line.strip(" -") for file in WORKFLOWS for line in file.read_text().splitlines() if "uses:" in line}
    assert len({line.partition("@")[0] for line in used}) == len(used)


def test_only_the_job_that_creates_a_release_may_write_and_it_runs_no_code_of_ours() -> None:
    assert [read(file)["permissions"] for file in WORKFLOWS] == [{"contents": "read"}, {}]
    writing = {name: job for name, job in jobs().items() if "write" in job.get("permissions", {}).values()}
    assert {name: job["permissions"] for name, job in writing.items()} == {"release/publish": {"contents": "write"}}
    assert steps(writing["release/publish"], "actions/checkout") == []


def test_expressions_are_not_pasted_into_scripts() -> None:
    """The name of a branch or tag is chosen by others: scripts read it from the environment."""
    scripts = [step["run"] for job in jobs().values() for step in job["steps"] if "run" in step]
    assert scripts
    assert [script for script in scripts if "${{" in script] == []


def test_all_checks_run_on_every_change_and_before_a_release_with_the_whole_history() -> None:
    checked = {name: job for name, job in jobs().items() if {"run": ".ci/run"} in job["steps"]}
    assert checked.keys() == {"ci/ci", "release/check"}
    for job in checked.values():
        (checkout,) = steps(job, "actions/checkout")
        assert checkout["with"] == {"fetch-depth": 0, "persist-credentials": False}
    assert jobs()["release/publish"]["needs"] == ["check", "wheel"]
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o111


def test_the_job_that_builds_the_wheel_runs_nothing_else() -> None:
    """A test, or a package that a test runs, could change the file before it is uploaded."""
    uploading = {name: job for name, job in jobs().items() if steps(job, "actions/upload-artifact")}
    assert uploading.keys() == {"release/wheel"}
    commands = [step["run"] for step in uploading["release/wheel"]["steps"] if "run" in step]
    assert commands[0] == "make wheel"
    assert [command for command in commands[1:] if not command.startswith("test -f ")] == []


def test_dependabot_looks_where_the_manifests_are() -> None:
    updates = read(GITHUB / "dependabot.yml")["updates"]
    assert {update["package-ecosystem"] for update in updates} == MANIFESTS.keys()
    for update in updates:
        assert list((ROOT / update["directory"].strip("/")).glob(MANIFESTS[update["package-ecosystem"]]))
