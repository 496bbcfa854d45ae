"""Commands that documents, workflows and hooks name exist, so that a reader can copy them."""

import re
import shlex
import subprocess
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
FOLDERS = ("", ".ci", ".github/**", "docs/**", "requirements", "runner", "tests/simulation")
KINDS = ("*.md", "*.yml", "*.yaml", "run")
FILES = sorted({file for folder in FOLDERS for kind in KINDS for file in (ROOT / folder).glob(kind) if file.is_file()})
# A command at the beginning of a line, after a prompt, in back-quotes or in a `run:`; not the verb in a sentence.
MAKE = re.compile(r"(?:^|^\$ |`|&& |run: )make ([a-z][a-z-]*)", re.MULTILINE)
INSTALLED = re.compile(r"(?:^|[\s`\"'])((?:\.venv/bin|node_modules/\.bin)/[\w.-]+)", re.MULTILINE)


@cache
def targets() -> frozenset[str]:
    """The targets that make itself finds in the Makefile."""
    make = ["make", "--dry-run", "--print-data-base", "--no-builtin-rules", "help"]
    database = subprocess.run(make, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    phony = re.search(r"^\.PHONY: (.*)$", database, re.MULTILINE)
    assert phony
    return frozenset(phony[1].split())


def commands(document: str) -> list[str]:
    blocks = re.findall(r"^```console\n(.*?)^```", (ROOT / document).read_text(), re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in re.findall(r"^\$ (.*?)(?:\s+#.*)?$", block, re.MULTILINE)]


def name(file: Path) -> str:
    return str(file.relative_to(ROOT))


@pytest.mark.parametrize("file", [file for file in FILES if MAKE.search(file.read_text())], ids=name)
def test_every_make_target_that_is_named_exists(file: Path) -> None:
    assert set(MAKE.findall(file.read_text())) <= targets()


@pytest.mark.parametrize("file", [file for file in FILES if INSTALLED.search(file.read_text())], ids=name)
def test_every_installed_command_that_is_named_exists(file: Path) -> None:
    assert [found for found in INSTALLED.findall(file.read_text()) if not (ROOT / found).exists()] == []


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md"])
def test_the_first_documents_show_commands(document: str) -> None:
    """Else the tests above would pass for documents that show none."""
    assert {"make run", "make test"} <= {*commands(document)}


def test_every_test_that_contributing_runs_exists() -> None:
    selected = [line for line in commands("CONTRIBUTING.md") if line.startswith(".venv/bin/pytest")]
    assert selected
    for command in selected:
        for argument in [each for each in shlex.split(command) if each.startswith("tests/")]:
            file, _, test = argument.partition("::")
            assert f"def {test}(" in (ROOT / file).read_text() if test else (ROOT / file).exists(), argument


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md"])
def test_links_of_the_first_documents_lead_somewhere(document: str) -> None:
    linked = re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", (ROOT / document).read_text())
    assert [target for target in linked if not (ROOT / target).exists()] == []


def test_every_folder_that_contributing_names_exists() -> None:
    table = (ROOT / "CONTRIBUTING.md").read_text().partition("## Where code goes")[2].partition("\n## ")[0]
    folders = re.findall(r"`([\w./-]+/)`", table)
    assert folders
    assert [folder for folder in folders if not (ROOT / folder).is_dir()] == []


def test_every_file_that_the_checklists_of_contributing_name_exists() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text().partition("## Checklists")[2].partition("\n## ")[0]
    named = {each for each in re.findall(r"`([\w./-]+)`", text) if "/" in each}
    assert len(named) >= 15
    domain = ROOT / "layers" / "domain" / "python" / "runledger"
    assert [each for each in sorted(named) if not ((ROOT / each).exists() or (domain / each).exists())] == []
