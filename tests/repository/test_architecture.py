"""Arrows point inward: model, then use cases, then wiring, then functions; and domain, then github, then api."""

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
LAYERS = {name: ROOT / "layers" / name / "python" for name in ("domain", "github", "api")}

# What each package may import of the others. Entry points come last, the model first.
MAY_IMPORT = {
    "runledger": set(),
    "runledger.model": set(),
    "runledger.platform": {"model"},
    "runledger.tables": {"model", "platform"},
    "runledger.queries": {"model", "platform", "tables"},
    "runledger.recording": {"model", "platform", "tables"},
    "runledger.webhooks": {"model", "platform", "recording"},
    "runledger.runners": {"model", "platform", "tables", "recording"},
    "runledger.migration": {"model", "platform", "recording", "webhooks"},
    "runledger.feeds": {"model", "platform", "tables"},
    "runledger.notifications": {"model", "platform", "tables", "queries", "feeds"},
    "runledger.releases": {"model", "platform", "tables"},
    "runledger.reconciliation": {"model", "platform", "tables", "queries", "recording", "runners"},
    "runledger.wiring": {
        *("model", "platform", "tables", "queries", "recording", "webhooks", "runners", "migration"),
        *("feeds", "notifications", "releases"),
    },
    "runledger_github": {
        *("model", "platform", "tables", "queries", "recording", "webhooks", "runners", "reconciliation", "wiring"),
        *("feeds", "releases"),
    },
    # The public API neither records nor repairs, and has no GitHub client.
    "runledger_api": {"model", "platform", "tables", "queries", "feeds", "notifications", "releases", "wiring"},
}
# Pure is also every other module whose docstring has "Pure." in its first line.
PURE = ("runledger.model", "runledger.recording.decision")
LONGEST_FILE = 300
SOURCES = ("layers", "functions", "stacks", "cli", "runner", "preflight", "recovery", "local", "bench", "tests")
ENTRY_POINTS = {
    *("functions", "stacks", "app", "runledger_cli", "runner"),
    *("preflight", "recovery", "local", "bench", "tests"),
}


def module_name(file: Path, root: Path) -> str:
    return ".".join(file.relative_to(root).with_suffix("").parts).removesuffix(".__init__")


MODULES = {module_name(file, root): file for root in LAYERS.values() for file in sorted(root.rglob("*.py"))}


def imports(source: str) -> set[str]:
    """Full names; `from package import module` counts as the module."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            inside = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {name for name in inside if name in MODULES} or {node.module}
    return found


def package(module: str) -> str:
    """`runledger.tables.jobs` belongs to `runledger.tables`; a layer on top of the domain is one package."""
    parts = module.split(".")
    return ".".join(parts[:2]) if parts[0] == "runledger" else parts[0]


def violations(sources: Mapping[str, str]) -> Iterator[str]:
    for module, source in sources.items():
        allowed = {f"runledger.{name}" for name in MAY_IMPORT[package(module)]} | {package(module), "runledger"}
        for name in imports(source):
            if name.split(".")[0].startswith("runledger") and package(name) not in allowed:
                yield f"{module} imports {name}"


def test_a_package_imports_only_what_lies_further_in() -> None:
    assert list(violations({module: file.read_text() for module, file in MODULES.items()})) == []


@pytest.mark.parametrize(
    ("module", "planted"),
    [
        ("runledger.model.job", "from runledger.tables import schema"),
        ("runledger.tables.jobs", "import runledger.recording.ledger"),
        ("runledger.queries.caches", "from runledger_github.state import GitHubState"),
        ("runledger_api.app", "from runledger_github.app import GitHubApp"),
        ("runledger_api.routes.stuck", "from runledger.reconciliation.reconciler import Reconciler"),
        ("runledger_github.state", "from runledger_api.app import Api"),
    ],
)
def test_an_import_in_the_wrong_direction_is_noticed(module: str, planted: str) -> None:
    assert list(violations({module: f"{MODULES[module].read_text()}\n{planted}\n"}))


def test_every_package_has_a_rule_and_a_sentence() -> None:
    assert {package(module) for module in MODULES} == MAY_IMPORT.keys()
    for module in MAY_IMPORT:
        assert ast.get_docstring(ast.parse(MODULES[module].read_text())), f"{module}/__init__.py has no docstring"


def test_only_the_schema_builds_keys_of_jobs_runs_and_deployments() -> None:
    """One function each, so that readers and writers of a table can't differ. Other keys begin with a word."""
    built = re.compile(r"""f["']{[\w.]*(installation_id|installation|scope)}#""")
    found = {module for module, file in MODULES.items() if built.search(file.read_text())}
    assert found == {"runledger.tables.schema", "runledger.tables.release_keys"}


def is_pure(module: str) -> bool:
    docstring = ast.get_docstring(ast.parse(MODULES[module].read_text())) or ""
    return module.startswith(PURE) or "Pure." in docstring.partition("\n")[0]


def is_standard(name: str) -> bool:
    return name.partition(".")[0] in sys.stdlib_module_names


def reached_from(module: str) -> set[str]:
    """Everything that is imported, directly or by a module of the layers."""
    reached, left = set[str](), [module]
    while left:
        for name in imports(MODULES[left.pop()].read_text()) - reached:
            reached.add(name)
            left += [name] if name in MODULES else []
    return reached


@pytest.mark.parametrize("module", [name for name in MODULES if is_pure(name)])
def test_pure_modules_load_only_the_standard_library(module: str) -> None:
    outside = {name for name in reached_from(module) - MODULES.keys() if not is_standard(name)}
    assert outside == set()


@pytest.mark.parametrize("function", ["webhook_intake", "webhook_retry"])
def test_recording_a_webhook_loads_nothing_of_what_follows_from_it(function: str) -> None:
    """The tables are the source of the feed: with it or without it, a cold start is the same."""
    direct = imports((ROOT / "functions" / f"{function}.py").read_text())
    reached = direct.union(*(reached_from(name) for name in direct if name in MODULES))
    assert "runledger.webhooks.intake" in reached
    assert not [name for name in reached if name.startswith(("runledger.feeds", "runledger.notifications"))]


def test_no_layer_imports_an_entry_point() -> None:
    for file in MODULES.values():
        assert not {name.partition(".")[0] for name in imports(file.read_text())} & ENTRY_POINTS


@pytest.mark.parametrize("file", sorted((ROOT / "stacks" / "constructs").glob("*.py")), ids=lambda file: file.stem)
def test_a_construct_imports_no_stack(file: Path) -> None:
    """Stacks pass it what it needs."""
    own = {name for name in imports(file.read_text()) if name.startswith("stacks.")}
    shared = ("stacks.names", "stacks.settings", "stacks.settings_reader")
    assert all(name.startswith("stacks.constructs") or name in shared for name in own)


@pytest.mark.parametrize("file", sorted((ROOT / "functions").glob("*.py")), ids=lambda file: file.stem)
def test_a_function_has_at_most_60_lines_and_imports_no_table(file: Path) -> None:
    assert len(file.read_text().splitlines()) <= 60
    assert not any(name.startswith("runledger.tables") or name == "boto3" for name in imports(file.read_text()))


def test_a_file_has_at_most_300_lines() -> None:
    """A longer one holds more than one idea."""
    files = [file for folder in SOURCES for file in (ROOT / folder).rglob("*.py")]
    assert len(files) > len(MODULES)
    long = [file for file in files if len(file.read_text().splitlines()) > LONGEST_FILE]
    assert [str(file.relative_to(ROOT)) for file in long] == []
