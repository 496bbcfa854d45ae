"""docs/architecture.md matches the repository: its tree, its packages, its paths and its diagrams."""

import re
import subprocess
from functools import cache
from pathlib import Path

from tests.repository.test_architecture import MAY_IMPORT
from tests.support.documents import DOCS, rows, section

ROOT = Path(__file__).parent.parent.parent
DOCUMENT = "architecture.md"
DOMAIN = ROOT / "layers" / "domain" / "python" / "runledger"
INDENT = "    "


@cache
def tracked_folders() -> frozenset[str]:
    """Folders at the top, from git, so that caches and build output don't count."""
    files = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return frozenset(file.partition("/")[0] for file in files.splitlines() if "/" in file)


def tree() -> dict[str, str]:
    """Each path of the tree with its sentence."""
    block = re.search(r"```\n(.*?)```", section(DOCUMENT, "Directory tree"), re.DOTALL)
    assert block
    found, parent = {}, ""
    for line in block[1].splitlines():
        name, _, sentence = line.strip().partition(" ")
        nested = line.startswith(INDENT)
        parent = parent if nested else name
        found[f"{parent}{name}" if nested else name] = sentence.strip()
    return found


def diagrams(text: str) -> list[str]:
    return re.findall(r"```mermaid\n.*?```", text, re.DOTALL)


def test_every_path_in_the_tree_exists_and_has_a_sentence() -> None:
    assert [path for path in tree() if not (ROOT / path).exists()] == []
    assert [path for path, sentence in tree().items() if not sentence] == []


def test_every_top_level_folder_is_in_the_tree() -> None:
    assert tracked_folders() <= {path.rstrip("/") for path in tree()}


def test_every_package_of_the_domain_is_listed_with_its_allowed_imports() -> None:
    listed = {
        package.strip("`"): set(re.findall(r"`(\w+)`", imports))
        for package, _, imports in rows(section(DOCUMENT, "Packages of the domain"))
    }
    assert listed.keys() == {folder.parent.name for folder in DOMAIN.glob("*/__init__.py")}
    assert listed == {name: MAY_IMPORT[f"runledger.{name}"] for name in listed}


def test_every_path_to_look_in_exists_and_contains_the_named_constants() -> None:
    table = rows(section(DOCUMENT, "Where to look"))
    assert len(table) >= 15
    for task, places in table:
        named = re.findall(r"`([^`]+)`", places)
        paths = [ROOT / name for name in named if "/" in name or "." in name]
        assert paths, task
        assert [path for path in paths if not path.exists()] == [], task
        sources = "".join(path.read_text() for path in paths if path.is_file())
        assert [name for name in named if "/" not in name and "." not in name and name not in sources] == [], task


def test_the_readme_and_the_document_show_one_diagram_each() -> None:
    (overview,) = diagrams((ROOT / "README.md").read_text())
    (write_path,) = diagrams((DOCS / DOCUMENT).read_text())
    assert overview != write_path
