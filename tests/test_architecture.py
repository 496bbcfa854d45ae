"""Arrows point inward: functions, then runtime, then use cases, then tables, then the model."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOMAIN = ROOT / "layers" / "domain" / "python"

TABLE = {"times", "tables.schema", "tables.attributes", "tables.updates"}
READER = {"deliveries", "payload"}

# Where things are wired together anything may be imported.
WIRING = {"runledger.runtime", "runledger.runner_runtime", "runledger.github_runtime"}
# What each other module of the layer may import of the layer.
MAY_IMPORT = {
    "runledger": set(),
    "runledger.times": set(),
    "runledger.model": {"times"},
    "runledger.reports": set(),
    "runledger.errors": {"model"},
    "runledger.decision": {"model", "reports"},
    "runledger.tables": set(),
    "runledger.tables.schema": set(),
    "runledger.tables.attributes": {"errors"},
    "runledger.tables.updates": {"tables.schema", "tables.attributes"},
    "runledger.tables.jobs": {*TABLE, "errors", "model"},
    "runledger.tables.events": {*TABLE, "model"},
    "runledger.tables.installations": {*TABLE, "reports"},
    "runledger.tables.runs": {*TABLE, "model", "reports"},
    "runledger.tables.deployments": {*TABLE, "reports"},
    "runledger.tables.gates": {*TABLE, "reports"},
    "runledger.tables.runners": TABLE,
    "runledger.payload": {"errors", "times"},
    "runledger.deliveries": {"payload"},
    "runledger.reading": set(),
    "runledger.reading.jobs": {*READER, "model"},
    "runledger.reading.runs": {*READER, "reports"},
    "runledger.reading.deployments": {*READER, "reports"},
    "runledger.reading.installations": {*READER, "reports", "times"},
    "runledger.reading.webhooks": {
        *(*READER, "model", "reports"),
        *("reading.jobs", "reading.runs", "reading.deployments", "reading.installations"),
    },
    "runledger.signatures": {"errors", "tables.attributes"},
    "runledger.retries": {"model", "reports", "tables.attributes"},
    "runledger.runner_names": set(),
    "runledger.prices": {"errors", "reports", "tables.attributes", "times"},
    "runledger.instances": {"reports", "runner_names", "tables.attributes", "times"},
    "runledger.errands": {"model", "reports", "runner_names", "tables.attributes"},
    "runledger.runners": {"decision", "model", "tables.runners"},
    "runledger.scheduling": {"errors", "model", "payload", "reports", "runners"},
    "runledger.interruption": {"errors", "payload", "reports", "runners"},
    "runledger.lookups": {"instances", "model", "reports", "runners"},
    "runledger.reruns": {"caches", "decision", "errors", "model", "reports", "tables.runs"},
    "runledger.batches": {"telemetry"},
    "runledger.approvals": {"decision", "model", "reports", "tables.deployments", "tables.gates"},
    "runledger.ledger": {
        *("approvals", "decision", "errands", "errors", "model", "reports"),
        *("tables.deployments", "tables.events", "tables.gates", "tables.installations", "tables.jobs", "tables.runs"),
    },
    "runledger.caches": {"errors", "reports", "times", "tables.deployments", "tables.runs"},
    "runledger.forgotten": {"model", "tables.jobs"},
    "runledger.telemetry": {"decision", "model", "reports"},
    "runledger.intake": {
        *("deliveries", "errors", "ledger", "model", "reading.webhooks", "reports", "retries", "signatures"),
        "telemetry",
    },
}
STANDARD_LIBRARY_ONLY = {f"runledger.{name}" for name in ("times", "model", "reports", "errors", "decision")}


def module_name(file: Path, root: Path) -> str:
    return ".".join(file.relative_to(root).with_suffix("").parts).removesuffix(".__init__")


def imports(file: Path) -> set[str]:
    """Full names; `from package import module` counts as the module."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            inside = {f"{node.module}.{alias.name}" for alias in node.names}
            modules = {name for name in inside if name in MODULES}
            found |= modules or {node.module}
    return found


MODULES = {module_name(file, DOMAIN): file for file in DOMAIN.rglob("*.py")}


@pytest.mark.parametrize("module", sorted(MODULES.keys() - WIRING))
def test_a_module_imports_only_what_lies_further_in(module: str) -> None:
    ours = {
        name.removeprefix("runledger.") for name in imports(MODULES[module]) if name.partition(".")[0] == "runledger"
    }
    assert ours <= MAY_IMPORT[module]


@pytest.mark.parametrize("module", sorted(STANDARD_LIBRARY_ONLY))
def test_the_heart_needs_nothing_but_python(module: str) -> None:
    foreign = {"boto3", "botocore", "aws_lambda_powertools", "aws_cdk"}
    assert not {name.partition(".")[0] for name in imports(MODULES[module])} & foreign


def test_nothing_in_the_layer_knows_functions_stacks_or_tests() -> None:
    for file in MODULES.values():
        assert not {name.partition(".")[0] for name in imports(file)} & {"functions", "stacks", "tests", "local"}


@pytest.mark.parametrize("file", sorted((ROOT / "functions").glob("*.py")), ids=lambda file: file.stem)
def test_a_function_stays_small_and_reaches_no_table(file: Path) -> None:
    assert len(file.read_text().splitlines()) <= 70
    assert not any(name.startswith("runledger.tables") or name == "boto3" for name in imports(file))
