"""Arrows point inward: functions, then runtime, then use cases, then tables, then the model."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOMAIN = ROOT / "layers" / "domain" / "python"

TABLE = {"times", "tables.schema", "tables.attributes", "tables.reads", "tables.updates"}
READER = {"deliveries", "payload"}

# Where things are wired together anything may be imported.
WIRING = {
    "runledger.runtime",
    "runledger.runner_runtime",
    "runledger.github_runtime",
    "runledger.reconciler_runtime",
    "runledger.api_runtime",
    "runledger.passes_runtime",
}
# What each other module of the layer may import of the layer.
MAY_IMPORT = {
    "runledger": set(),
    "runledger.times": set(),
    "runledger.money": {"times"},
    "runledger.model": {"money", "runner_names", "times"},
    "runledger.reports": set(),
    "runledger.machines": {"places"},
    "runledger.ownership": {"machines"},
    "runledger.publishers": set(),
    "runledger.errors": {"model"},
    "runledger.reconciliation.uninstalled": {
        "decision",
        "model",
        "reconciliation.bounds",
        "reconciliation.healing",
        "reconciliation.open_runs",
        "reconciliation.stuck",
        "reconciliation.tally",
        "reports",
        "tables.installations",
        "tables.jobs",
        "tables.runs",
    },
    "runledger.places": set(),
    "runledger.message_format": {"errors"},
    "runledger.decision": {"model", "reports"},
    "runledger.tables": set(),
    "runledger.tables.schema": set(),
    "runledger.tables.attributes": {"errors"},
    "runledger.tables.updates": {"tables.schema", "tables.attributes"},
    "runledger.tables.reads": {"tables.schema", "tables.attributes", "errors"},
    "runledger.tables.cleanups": {*TABLE, "machines", "tables.runners"},
    "runledger.tables.lost_deliveries": TABLE,
    "runledger.tables.absences": TABLE,
    "runledger.tables.passes": TABLE,
    "runledger.tables.jobs": {*TABLE, "errors", "model"},
    "runledger.tables.events": {*TABLE, "model"},
    "runledger.tables.installations": {*TABLE, "reports"},
    "runledger.tables.runs": {*TABLE, "model", "reports"},
    "runledger.tables.rerun_claims": {*TABLE, "reports", "tables.runs"},
    "runledger.tables.deployments": {*TABLE, "reports"},
    "runledger.gates": {"reports"},
    "runledger.tables.gates": {*TABLE, "gates", "reports"},
    "runledger.tables.runners": {*TABLE, "machines"},
    "runledger.tables.pages": {"tables.schema", "tables.attributes"},
    "runledger.tables.job_pages": {
        *("model", "statistics", "tables.schema", "tables.attributes", "tables.pages", "tables.reads"),
    },
    "runledger.tables.event_pages": {"tables.attributes", "tables.pages"},
    "runledger.tables.run_attempts": {"tables.schema", "tables.attributes", "tables.reads"},
    "runledger.histograms": set(),
    "runledger.rankings": {"histograms"},
    "runledger.statistics": {"histograms", "model", "rankings", "times"},
    "runledger.urls": set(),
    "runledger.survey": {"statistics", "tables.job_pages", "tables.pages"},
    "runledger.pools": {"machines", "model"},
    "runledger.tail": {"model", "tables.event_pages", "tables.job_pages", "tables.pages", "times"},
    "runledger.known_installations": {"tables.installations"},
    "runledger.dead_letters": {"tables.attributes"},
    "runledger.payload": {"errors", "times"},
    "runledger.deliveries": {"payload"},
    "runledger.reading": set(),
    "runledger.reading.jobs": {*READER, "model"},
    "runledger.reading.runs": {*READER, "reports"},
    "runledger.reading.deployments": {*READER, "reports"},
    "runledger.reading.installations": {*READER, "errors", "reports"},
    "runledger.reading.webhooks": {
        *(*READER, "errors", "model", "reports"),
        *("reading.jobs", "reading.runs", "reading.deployments", "reading.installations"),
    },
    "runledger.signatures": {"deliveries", "errors", "tables.attributes"},
    "runledger.retries": {"model", "reports", "tables.attributes", "message_format"},
    "runledger.runner_names": set(),
    "runledger.snapshots": set(),
    "runledger.aws": {"snapshots"},
    "runledger.prices": {"errors", "reports", "tables.attributes", "times", "places"},
    "runledger.instances": {"reports", "runner_names", "tables.attributes", "times", "places"},
    "runledger.errands": {"model", "reports", "runner_names", "tables.attributes", "message_format"},
    "runledger.machine_messages": {"machines", "model"},
    "runledger.runners": {
        "places",
        *("decision", "errors", "instances", "machine_messages", "machines", "model", "ownership", "tables.runners"),
    },
    "runledger.scheduling": {
        "places",
        *("errors", "lookups", "model", "ownership", "payload", "publishers", "reports", "runners", "times"),
    },
    "runledger.interruption": {"errors", "payload", "reports", "runners", "places"},
    "runledger.lookups": {"instances", "machines", "ownership", "reports", "runners", "errors"},
    "runledger.reruns": {"caches", "decision", "errors", "model", "reports", "tables.rerun_claims"},
    "runledger.batches": {"errors", "telemetry", "times"},
    "runledger.approvals": {"decision", "model", "reports", "tables.deployments", "tables.gates"},
    "runledger.ledger": {
        *("approvals", "decision", "errands", "errors", "model", "reports"),
        *("tables.deployments", "tables.events", "tables.gates", "tables.installations", "tables.jobs", "tables.runs"),
    },
    "runledger.github_requests": {"message_format"},
    "runledger.caches": {"errors", "reports", "times", "tables.deployments", "tables.runs"},
    "runledger.forgotten": {"model", "tables.jobs"},
    "runledger.fleet": {"instances", "ownership", "reports", "tables.attributes", "errors", "places"},
    "runledger.reconciliation": set(),
    "runledger.reconciliation.stuck": {"model", "times"},
    "runledger.reconciliation.orphans": {"instances", "machines", "model", "times"},
    "runledger.reconciliation.owners": {"errors", "machines", "ownership"},
    "runledger.reconciliation.tally": {"errors"},
    "runledger.reconciliation.summary": {"reconciliation.tally", "times"},
    "runledger.reconciliation.metrics": {"reconciliation.summary", "reconciliation.tally", "telemetry"},
    "runledger.reconciliation.bounds": set(),
    "runledger.reconciliation.open_runs": {"model"},
    "runledger.reconciliation.healing": {"model", "reconciliation.open_runs", "reconciliation.stuck", "reports"},
    "runledger.reconciliation.requests": {"decision", "errors", "model", "tables.attributes"},
    "runledger.reconciliation.jobs": {
        *("decision", "deliveries", "instances", "model", "reports", "times"),
        *("tables.absences", "tables.jobs", "tables.runs"),
        *(f"reconciliation.{name}" for name in ("bounds", "healing", "open_runs", "orphans", "requests", "stuck")),
        "reconciliation.tally",
    },
    "runledger.reconciliation.cleanup": {
        *("errors", "fleet", "instances", "machines", "model", "ownership", "runners", "times"),
        *("reconciliation.orphans", "reconciliation.owners", "tables.cleanups", "tables.jobs"),
    },
    "runledger.reconciliation.runners": {
        *("fleet", "instances", "machines", "model", "ownership", "tables.cleanups", "times"),
        *(f"reconciliation.{name}" for name in ("bounds", "cleanup", "orphans", "tally")),
    },
    "runledger.reconciliation.deliveries": {
        "deliveries",
        "errors",
        *("reconciliation.bounds", "reconciliation.tally", "tables.lost_deliveries", "times"),
    },
    "runledger.reconciliation.installations": {
        *("reconciliation.bounds", "reconciliation.tally", "reports", "tables.installations", "times"),
    },
    "runledger.reconciliation.orders": {
        "reconciliation.summary",
        "tables.attributes",
        "tables.passes",
        "message_format",
    },
    "runledger.reconciliation.passes": {
        "reconciliation.uninstalled",
        *("caches", "forgotten", "tables.installations", "tables.passes"),
        *(f"reconciliation.{name}" for name in ("bounds", "cleanup", "deliveries", "jobs", "runners", "summary")),
        *("reconciliation.installations", "reconciliation.tally"),
    },
    "runledger.emf": {"times"},
    "runledger.telemetry": {"decision", "emf", "errors", "model", "reports"},
    "runledger.intake": {
        *("deliveries", "errors", "ledger", "model", "reading.webhooks", "reports", "retries", "signatures"),
        "telemetry",
    },
}
STANDARD_LIBRARY_ONLY = {
    f"runledger.{name}"
    for name in (
        *("times", "money", "model", "reports", "errors", "decision", "machines", "ownership", "publishers"),
        *("machine_messages", "runner_names", "histograms", "rankings", "statistics", "urls"),
    )
}


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
