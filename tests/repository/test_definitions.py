"""docs/definitions.md: every figure that the API, the dashboard, the CLI or CloudWatch shows is defined, once."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import UnionType
from typing import Any, NotRequired, get_args, get_origin

import pytest
from runledger.platform import emf
from runledger.reconciliation.summary import LINES
from runledger.reconciliation.tally import Count
from runledger_api.models import (
    admin,
    builds,
    environments,
    feed,
    heads,
    jobs,
    notifications,
    packages,
    runs,
    statistics,
)

from tests.support.documents import DOCS, rows, section

ROOT = Path(__file__).parent.parent.parent
SHOWN = "Where each figure is shown"
TEXT = (DOCS / "definitions.md").read_text().partition(f"## {SHOWN}")[0]
FIGURES = {
    figure: dict(zip(("API", "dashboard", "CLI", "CloudWatch"), shown, strict=True))
    for figure, *shown in rows(section("definitions.md", SHOWN))
}
# Numbers that name something.
IDS = {"installation_id", "job_id", "run_id", "run_number", "run_attempt", "workflow_id", "deployment_id", "runner_id"}
IDS |= {"runner_group_id", "attempts", "job_ids", "version", "max", "p50", "p90", "p99"}
IDS |= {"summary"}  # the counters of a pass, which have a test of their own
IDS |= {"hour", "at_most_per_hour", "priority"}  # options of a subscription
# Titles of columns and facts that show no figure.
WORDS = {"Job", "Jobs over time", "Branch", "Runner", "Repository", "Pool", "Pass", "Result", "Requested by", "Queue"}
WORDS |= {"Environment", "Instance", "Instance type", "Labels", "Attempt", "Properties", "Commit", "Deployment", "Why"}
WORDS |= {"Workflow id", "Job id", "Clean up this runner?", "By", "Run", "State", "Since", "Version", "Previous"}
WORDS |= {"Latest deployment", "Deployed", "Workflow", "Last run", "Last green run", "Installation", "Variant"}
WORDS |= {"Previous version", "New version", "Reported", "Updated", "Package", "Published", "Published by", "Range"}
WORDS |= {"Depends on", "Description", "Release", "Event", "Time", "About", "Details", "Message", "Error", "Type", "Id"}
WORDS |= {"Correlation id", "Created by", "First attempt", "Next attempt", "Ended", "Id of the receiver"}
WORDS |= {"Sent again as", "Sent again from", "Send again:", "Sends", "Last success"}
WORDS |= {
    "Last failure",
    "Changed",
    "Channel",
    "Subscription",
    "Owner type",
    "Priority",
    "Receiver",
    "Tags",
    "Text",
    "Secret",
}
WORDS |= {"Previous secret", "Delete this subscription?", "Replace the secret?", "Created on GitHub"}
CLI_WORDS = {"JOB", "STATUS", "REPOSITORY", "NAME", "RUNNER", "FROM", "POOL", "INSTANCES", "INSTALLATION", "ACCOUNT"}
CLI_WORDS |= {"KIND", "RUN", "JOB STATUS", "MACHINE", "REASON", "STUCK IN", "ADVICE", "INSTALLATIONS", "STATE"}
CLI_WORDS |= {"status", "job", "run", "workflow", "repository", "labels", "environment", "runner", "instance", "GitHub"}
CLI_WORDS |= {"branch", "re-run"}
CLI_WORDS |= {"DEPENDENT", "VERSION", "RANGE", "AFTER", "MESSAGE", "CHANGED", "message", "rebuilds", "previous"}
CLI_WORDS |= {"published", "completed"}
CLI_WORDS |= {"BRANCH", "WORKFLOW", "SINCE", "LAST RUN", "COMMIT", "ACTOR", "ENVIRONMENT", "PREVIOUS", "LATEST", "BY"}
CLI_WORDS |= {"PACKAGE", "PUBLISHED", "ROLLBACK TARGETS"}
CLI_WORDS |= {"TYPE", "SUBSCRIPTION", "ABOUT", "ERROR", "CHANNEL", "LAST SUCCESS", "SENDS", "about", "error"}
CLI_WORDS |= {"subscription", "first attempt", "next attempt", "ended", "correlation id"}
CLI_WORDS |= {"sent again from", "sent again as", "DEPLOYED"}
MODELS = [jobs, runs, statistics, admin, heads, environments, builds, packages, feed, notifications]
LABELS = re.compile(
    r"""tile\("([^"]+)"|\btitle: "([^"]+)"|\blabel: ["`]([^"`$]+)|^ +\["([A-Z][\w ]+)",""", re.MULTILINE
)
# Their labels name the fields of a form.
FORMS = {"channels", "job_filters", "schedule_fields", "send_message", "subscription_form"}
# Its only label is a sentence.
FORMS |= {"lookup"}
COLUMNS = re.compile(r"""Column\(title="([^"]+)"|for title in \(([^)]+)\)|^ +\("([a-z][a-z -]+)", """, re.MULTILINE)
COMMANDS: tuple[str, ...] = (
    "rendering/jobs.py",
    "rendering/statistics.py",
    "rendering/job_details.py",
    "rendering/run_details.py",
)
COMMANDS += ("rendering/runners.py", "rendering/installations.py", "rendering/heads.py")
COMMANDS += ("rendering/releases.py", "rendering/messages.py")


def shown_by(place: str) -> set[str]:
    names = [name.strip().strip("`") for shown in FIGURES.values() for name in shown[place].split(",")]
    return {name for name in names if name}


def numbers(model: Any) -> Iterator[str]:
    """The names of a model's numeric fields, and of those that count by a name."""
    for name, kind in model.__annotations__.items():
        plain = get_args(kind)[0] if get_origin(kind) is NotRequired else kind
        options = get_args(plain) if isinstance(plain, UnionType) else (plain,)
        if any(each in (int, float, dict[str, int]) for each in options):
            yield name


def labels(file: str) -> set[str]:
    found = LABELS.findall((ROOT / "web/src" / file).read_text())
    return {text.strip() for groups in found for text in groups if text}


def titles(file: str) -> set[str]:
    found = COLUMNS.findall((ROOT / "cli/runledger_cli" / file).read_text())
    columns = {title for title, _, fact in found for title in (title, fact) if title}
    return columns | {title for _, several, _ in found for title in re.findall(r'"([^"]+)"', several)}


@pytest.mark.parametrize("figure", FIGURES)
def test_a_figure_is_defined_once(figure: str) -> None:
    defined = Counter(re.sub(r" \([^)]*\)", "", first) for first, *_ in rows(TEXT))
    assert defined[figure] >= 1, f"no table defines {figure}"
    assert defined[figure] == 1 or figure == "spot savings"  # the price, and the jobs that are counted


@pytest.mark.parametrize("module", MODELS, ids=lambda module: module.__name__)
def test_every_number_of_the_api_is_a_defined_figure(module: Any) -> None:
    models = [each for each in vars(module).values() if hasattr(each, "__total__")]
    assert models
    unknown = {f"{model.__name__}.{name}" for model in models for name in numbers(model) if name not in IDS} - {
        f"{model.__name__}.{name}" for model in models for name in shown_by("API")
    }
    assert unknown == set()


def views() -> list[str]:
    """The files of the dashboard that label figures or facts, without forms."""
    files = sorted(file for folder in ("views", "parts") for file in (ROOT / "web/src" / folder).glob("*.js"))
    named = [str(file.relative_to(ROOT / "web/src")) for file in files if file.stem not in FORMS]
    return [file for file in named if labels(file)]


def test_views_with_figures_are_found() -> None:
    """Else the next test would check nothing."""
    assert {"views/statistics.js", "views/dora.js", "views/notifications.js", "parts/jobs_table.js"} <= {*views()}


@pytest.mark.parametrize("view", views())
def test_every_number_of_the_dashboard_is_a_defined_figure(view: str) -> None:
    assert labels(view) - WORDS - shown_by("dashboard") == set()


@pytest.mark.parametrize("command", COMMANDS)
def test_every_number_of_the_cli_is_a_defined_figure(command: str) -> None:
    assert titles(command)
    assert titles(command) - CLI_WORDS - shown_by("CLI") == set()


def test_every_metric_that_measures_is_a_defined_figure() -> None:
    measured = {name for name, unit in emf.UNITS.items() if unit != "Count"}
    assert measured <= shown_by("CloudWatch") <= emf.UNITS.keys()


def test_every_counter_of_a_pass_is_defined_in_the_words_of_its_report() -> None:
    counters = [re.fullmatch(r"([^(]+) \((.+)\)", first) for first, *_ in rows(section("definitions.md", "Passes"))]
    words: dict[str, str] = {}
    for found in counters:
        assert found is not None
        words |= dict(zip(re.findall(r"`([^`]+)`", found[2]), found[1].split(", "), strict=True))
    assert words.keys() == set(Count)
    reported = {counts[0]: label for label, counts in LINES if len(counts) == 1}
    assert {words[count] for count in reported} == {label.lower() for label in reported.values()}
    renamed = re.findall(r'(\w+): "([^"]+)"', (ROOT / "web/src/parts/counters.js").read_text())
    assert {name: label.lower() for name, label in renamed} == {name: words[name] for name, _ in renamed}


def test_every_name_in_the_definitions_exists() -> None:
    sources = [*(ROOT / "web/src").rglob("*.js"), *(ROOT / "cli").rglob("*.py"), *(ROOT / "layers/api").rglob("*.py")]
    text = "\n".join(file.read_text() for file in sources)
    names = shown_by("API") | shown_by("dashboard") | shown_by("CLI")
    assert {name for name in names if name.lower().replace(" ", "_") not in text.lower().replace(" ", "_")} == set()
