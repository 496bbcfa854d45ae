"""The linters reject planted defects, and hooks run the tools of this project."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
BIN = Path(sys.executable).parent
ENVIRONMENT = {**os.environ, "PATH": f"{Path(sys.prefix) / 'tools'}{os.pathsep}{os.environ['PATH']}"}


@pytest.mark.parametrize(
    ("source", "rule"),
    [
        ("export const title = documents.title;", "no-undef"),
        ('import { el } from "./dom.js";', "no-unused-vars"),
        ("export const show = (slot, name) => { slot.innerHTML = name; };", "no-restricted-properties"),
        ('export const show = (slot, name) => slot.insertAdjacentHTML("beforeend", name);', "no-restricted-properties"),
        ("let timer = 0; export async function f(load) { stop(timer); await load(); timer = 1; }", "require-atomic"),
    ],
    ids=lambda value: value if " " not in value else "",
)
def test_a_defect_in_the_dashboard_is_found(source: str, rule: str) -> None:
    eslint = [str(ROOT / "node_modules/.bin/eslint"), "--stdin", "--stdin-filename", "web/src/planted.js"]
    run = subprocess.run(eslint, cwd=ROOT, env=ENVIRONMENT, input=source, check=False, capture_output=True, text=True)
    assert run.returncode == 1
    assert rule in run.stdout


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A small repository with our hooks and tools."""
    for name in (".pre-commit-config.yaml", "pyproject.toml", "eslint.config.mjs"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / ".venv").symlink_to(Path(sys.prefix))
    (tmp_path / "node_modules").symlink_to(ROOT / "node_modules")
    (tmp_path / ".gitignore").write_text(".venv\nnode_modules\n")
    (tmp_path / "web").mkdir()
    (tmp_path / "web" / "page.js").write_text("document.title = location.hash;\n")
    (tmp_path / "tool.py").write_text('print("checked")\n')
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    return tmp_path


def run_hooks(repository: Path) -> subprocess.CompletedProcess[str]:
    subprocess.run(["git", "add", "--all"], cwd=repository, check=True)
    environment = {**os.environ, "PRE_COMMIT_HOME": str(repository / ".git" / "pre-commit")}
    hooks = [str(BIN / "pre-commit"), "run", "--all-files", "--color", "never"]
    return subprocess.run(hooks, cwd=repository, env=environment, check=False, capture_output=True, text=True)


def test_hooks_pass_without_fetching_anything(repository: Path) -> None:
    run = run_hooks(repository)
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.count("Passed") == 3


@pytest.mark.parametrize(
    ("file", "content", "hook"),
    [
        ("tool.py", "import os\n", "ruff check"),
        ("tool.py", "print( 1 )\n", "ruff format"),
        ("web/page.js", "var unused = 1;\n", "eslint"),
    ],
)
def test_a_hook_rejects_a_defect(repository: Path, file: str, content: str, hook: str) -> None:
    (repository / file).write_text(content)
    run = run_hooks(repository)
    failed = [line.partition(".")[0] for line in run.stdout.splitlines() if line.endswith("Failed")]
    assert failed == [hook], run.stdout + run.stderr
