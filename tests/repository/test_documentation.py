"""The documents list every setting, metric, alarm, queue and saved query, and no others. Their links work."""

import ast
import json
import re
import subprocess
from dataclasses import fields
from pathlib import Path

import pytest
from runledger.model.inputs import Event, EventType
from runledger.model.job import Job
from runledger.model.ownership import is_runner
from runledger.model.runner import Runner
from runledger.platform import emf
from runledger.recording import telemetry
from runledger.tables import deployments, runs, schema
from runledger.wiring.settings import tags_in

from stacks.monitoring import saved_queries
from tests.support.documents import DOCS, names, rows, section
from tests.support.synthesis import Templates, of_type, synthesise

ROOT = Path(__file__).parent.parent.parent
WRITE_METRICS = (
    *("recording/telemetry.py", "platform/logs.py", "reconciliation/metrics.py", "notifications/telemetry.py"),
    *("migration/telemetry.py", "feeds/telemetry.py", "runners/telemetry.py"),
)
# Every optional part, in one configuration, because each one takes seconds.
COMPLETE = {
    "feeds": True,
    "notifications": True,
    "releases": True,
    "snap_start": True,
    "runner_config_bucket": "create",
}
LOGGED = ("layers/*/python/**/*.py", "functions/*.py")
LOGS = re.compile(r"(logs\.)?(logger\.(info|warning|error|exception)|count)")
SETTINGS = {
    name: value
    for name, value in json.loads((ROOT / "cdk.json").read_text())["context"].items()
    if not name.startswith("@aws-cdk")
}


def named_in_code() -> set[str]:
    files = [ROOT / "layers/domain/python/runledger" / name for name in WRITE_METRICS]
    nodes = [node for file in files for node in ast.walk(ast.parse(file.read_text()))]
    return {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def alarms(templates: Templates) -> list[str]:
    """Their names without the prefix of the stage."""
    made = [each for template in templates.values() for each in of_type(template, "AWS::CloudWatch::Alarm").values()]
    return [alarm["AlarmName"].removeprefix("runledger-prod-") for alarm in made]


@pytest.fixture(scope="module")
def complete() -> Templates:
    return synthesise(**COMPLETE)


def log_messages() -> set[str]:
    """The first arguments of calls such as `logger.error("...")` and `logs.count("...")`."""
    files = [file for pattern in LOGGED for file in ROOT.glob(pattern)]
    calls = [node for file in files for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Call)]
    logged = [call.args[0] for call in calls if call.args and LOGS.fullmatch(ast.unparse(call.func))]
    return {each.value for each in logged if isinstance(each, ast.Constant) and isinstance(each.value, str)}


def test_every_setting_is_documented_with_its_default() -> None:
    documented = {name: (default, meaning) for name, default, meaning in rows((DOCS / "settings.md").read_text())}
    assert documented.keys() == {f"`{name}`" for name in SETTINGS}
    for name, value in SETTINGS.items():
        default, meaning = documented[f"`{name}`"]
        assert meaning
        if name != "instance_id_pattern":  # described in words
            assert default.strip("`") == (json.dumps(value) if not isinstance(value, str) else value)


def test_every_metric_is_documented_and_every_documented_metric_is_emitted() -> None:
    assert names(section("monitoring.md", "Metrics")) == emf.UNITS.keys()
    assert emf.UNITS.keys() <= named_in_code()


def test_every_stored_attribute_and_event_type_is_documented() -> None:
    stored = {each.name for entity in (Job, Event, Runner) for each in fields(entity)} - {"webhooks", "short_id"}
    stored |= {"ttl", *(index.partition for index in schema.WORKFLOW_JOBS.indexes)}
    stored |= {*runs._IDENTITY, *runs._COUNTERS, *deployments.DECISIONS, deployments.INFERRED}
    text = section("tables.md", "Attributes")
    assert stored <= {*names(text), "workflow_id"}
    assert {f"`{each}`" for each in EventType} <= set(re.findall(r"`[a-z_]+`", text))


def test_every_event_of_a_job_has_a_metric() -> None:
    assert telemetry.EVENT_METRICS.keys() == set(EventType)
    assert {*telemetry.EVENT_METRICS.values(), *telemetry.DOLLAR_METRICS.values()} <= emf.UNITS.keys()


def test_every_log_message_is_documented() -> None:
    assert log_messages() - names(section("monitoring.md", "What each function logs")) == set()


def test_every_alarm_is_documented_and_every_documented_alarm_exists(complete: Templates) -> None:
    """`Kind-…` in a table means one alarm for each queue, function or table."""
    made = set(alarms(complete))
    kinds = {re.sub(r"-.*", "-…", name) for name in made}
    documented = names(section("monitoring.md", "Alarms"))
    assert kinds <= documented
    assert documented <= kinds | made


def test_every_alarm_of_an_optional_part_is_documented_with_its_setting(templates: Templates) -> None:
    """Those of each queue, function or table are documented once, except those on dead letters."""
    _, *parts = section("monitoring.md", "Alarms").split("### With ")
    for part in parts:
        setting = part.split("`")[1]
        needed = {"feeds": True} if setting == "notifications" else {}
        before = synthesise(**needed) if needed else templates
        added = set(alarms(synthesise(**{setting: True}, **needed))) - set(alarms(before))
        own = {name for name in added if "-" not in name or name.startswith("DeadLetters-")}
        assert names(part.partition("\n### ")[0]) == own, setting


def test_every_queue_that_has_an_alarm_is_explained(complete: Templates) -> None:
    queues = {name.partition("-")[2] for name in alarms(complete) if name.startswith(("QueueAge", "DeadLetters"))}
    explained = section("runbook.md", "A dead-letter queue is not empty")
    explaining = re.compile("|".join(f"`{re.escape(queue)}(?:DeadLetters)?`" for queue in queues))
    found = {name.strip("`").removesuffix("DeadLetters") for name in explaining.findall(explained)}
    assert found == queues


def test_every_queue_of_messages_between_functions_is_listed(complete: Templates) -> None:
    """Messages of the others come from launchers and AWS."""
    queues = {name.partition("-")[2] for name in alarms(complete) if name.startswith("QueueAge")}
    queues |= {"NotificationsSlow"}  # without an alarm on its age
    checklists = section("../CONTRIBUTING.md", "Checklists")
    queue_list = checklists.partition("### Change a queue message\n")[2].partition("The rules are:")[0]
    listed = set(re.findall(r"`([A-Z]\w+)`", queue_list))
    assert listed == queues - {"SchedulingEvents", "SpotInterruptions", "InstanceStates"}


def test_everything_that_is_retained_is_listed_with_the_command_that_deletes_it(complete: Templates) -> None:
    commands = {
        "AWS::DynamoDB::Table": "aws dynamodb delete-table",
        "AWS::SecretsManager::Secret": "aws secretsmanager delete-secret",
        "AWS::SQS::Queue": "aws sqs delete-queue",
        "AWS::S3::Bucket": "aws s3 rb --force",
        "AWS::S3::BucketPolicy": "aws s3 rb --force",
    }
    resources = [each for template in complete.values() for each in template["Resources"].values()]
    retained = [each["Type"] for each in resources if "Retain" in each.get("DeletionPolicy", "")]
    assert set(retained) == commands.keys()
    listed = rows(section("runbook.md", "Remove a deployment"))
    assert all(any(command in how for *_, how in listed) for command in commands.values())
    buckets = [name for template in complete.values() for name in template.get("Outputs", {}) if "BucketName" in name]
    assert len(buckets) == retained.count("AWS::S3::Bucket")
    assert [name for name in buckets if not any(f"`{name}`" in what for what, *_ in listed)] == []


def test_no_command_invokes_a_function_a_second_time() -> None:
    """The AWS CLI waits for a minute and then repeats the call; a full pass takes up to ten."""
    text = "\n".join(file.read_text() for file in [ROOT / "README.md", *DOCS.rglob("*.md")])
    commands = re.findall(r"^\s*\$ (.*aws lambda invoke (?:.*\\\n)*.*)", text, re.MULTILINE)
    assert commands
    for command in commands:
        waits = "AWS_MAX_ATTEMPTS=1 " in command and "--cli-read-timeout 0 " in command
        assert waits or "--invocation-type Event" in command


def test_the_cost_of_polling_counts_every_queue_that_feeds_a_function(templates: Templates) -> None:
    polled = [name for each in templates.values() for name in of_type(each, "AWS::Lambda::EventSourceMapping")]
    paragraph = section("cost.md", "Assumptions").partition("**Idle queues.**")[2].partition("\n\n")[0]
    requests = 650_000 * len(polled)
    assert f"together {requests / 1e6:.1f} million or ${requests * 0.4 / 1e6:.2f}" in paragraph.replace("\n", " ")


def test_the_cost_of_the_alarms_is_documented(templates: Templates) -> None:
    number = len(alarms(templates))
    assert f"the {number} alarms cost ${number / 10:.2f}" in section("monitoring.md", "Alarms")


def test_the_cost_of_optional_alarms_is_documented(templates: Templates) -> None:
    before = len(alarms(templates))
    feed, everything = (len(alarms(synthesise(feeds=True, **more))) for more in ({}, {"notifications": True}))
    releases = len(alarms(synthesise(releases=True)))
    for name, number in (
        ("The event feed", feed - before),
        ("Notifications", everything - feed),
        ("Packages and rebuilds", releases - before),
    ):
        text = section("cost.md", name).replace("\n", " ")
        assert f"{number} alarms ${number / 10:.2f}" in text


def test_the_parts_of_the_cost_of_events_and_messages_add_up() -> None:
    """SQS charges more for FIFO queues and message groups: $0.50 for a million requests."""
    for name, shared in (("The event feed", 10), ("Notifications", 1)):
        found = [(label, float(dollars.strip("*"))) for label, dollars in rows(section("cost.md", name))[2:]]
        (_, first), *others = [each for each in found if "*" not in each[0]]
        totals = [dollars for label, dollars in found if "*" in label]
        assert totals[0] == round(first + sum(dollars for _, dollars in others), 2)
        assert totals[-1] == round(first + sum(dollars for _, dollars in others) / shared, 2)
        assert [dollars for label, dollars in found if "SQS" in label] == [3 * 0.5]


def test_the_readme_states_the_counted_cost_of_a_month() -> None:
    counted = next(cells for cells in rows(section("cost.md", "A month")) if cells[0] == "**everything, on demand**")
    dollars = float(counted[1].strip("*"))
    assert f"One million jobs cost about ${dollars:.0f} a month" in (ROOT / "README.md").read_text()


def test_every_saved_query_is_explained() -> None:
    explained = {first.strip("*") for first, *_ in rows(section("monitoring.md", "Saved queries"))}
    assert explained == {*saved_queries.OVER_FUNCTIONS, *saved_queries.OVER_ACCESS}


@pytest.mark.parametrize("launcher", ["terraform-aws-github-runner", "cdk-github-runners", "RunsOn"])
def test_the_documented_tag_of_a_launcher_makes_its_machines_runners(launcher: str) -> None:
    documented = {cells[0]: cells[1] for cells in rows(section("runners.md", "Which machines are runners"))}
    setting = re.findall(r"`([^`]+)`", documented[launcher])[0]
    tag, _, value = setting.partition("=")
    machine = {tag: value.replace("*", "any")}
    assert is_runner(machine, tags_in(setting))
    assert is_runner(machine, {}), "the launcher's own tags count if the setting is empty"


def test_the_machines_that_a_pass_must_not_stop_are_documented() -> None:
    text = section("runners.md", "Machines to keep")
    for about in (
        SETTINGS["keep_tags"],
        "ghr:bypass-removal",
        "idle pools",
        "static runners",
        "registered with an enterprise",
    ):
        assert about
        assert about in text


def documents() -> list[Path]:
    """Every Markdown file of the repository."""
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [ROOT / name for name in listed.splitlines() if (ROOT / name).exists()]


@pytest.mark.parametrize("document", documents(), ids=lambda file: str(file.relative_to(ROOT)))
def test_links_between_the_documents_work(document: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", document.read_text()):
        file, _, anchor = target.partition("#")
        if ":" in file:
            continue
        linked = (document.parent / file) if file else document
        assert linked.exists(), target
        headings = re.findall(r"^#+ (.*)$", linked.read_text(), re.MULTILINE) if anchor else []
        assert not anchor or anchor in map(anchor_of, headings), target


def anchor_of(heading: str) -> str:
    """As GitHub creates it: without punctuation, in lower case, with hyphens."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
