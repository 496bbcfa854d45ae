"""Each function has exactly the permissions that it needs."""

import re
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
from runledger.platform import clients
from runledger.queries import caches

from tests.stacks.test_compliance import EVERYTHING
from tests.support.synthesis import Templates, of_type, synthesise
from tests.support.template_functions import as_list, functions, statements

ROOT = Path(__file__).parent.parent.parent
CODE = "069ad0262368c598072ea6bb1b33e2e6f89b501235aa897f7da709ed78355af8.zip"  # of stacks/constructs/function_code
LOGS = {"logs:CreateLogStream", "logs:PutLogEvents"}
# Every function that records has these, and may send to the same queues.
RECORDS = {"dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem", "sqs:SendMessage", *LOGS}
CONSUMES = {
    "sqs:ReceiveMessage",
    "sqs:ChangeMessageVisibility",
    "sqs:GetQueueUrl",
    "sqs:DeleteMessage",
    "sqs:GetQueueAttributes",
}
# Descriptions and prices, which AWS grants for all resources or none.
EVERYWHERE = {
    *("ec2:DescribeInstances", "ec2:DescribeSpotPriceHistory", "ecs:DescribeTasks", "ecs:ListTasks"),
    "pricing:GetProducts",
}
ALLOWED = {
    "WebhookIntake": {*RECORDS, "secretsmanager:GetSecretValue"},
    "WebhookRetry": {*RECORDS, *CONSUMES},
    "SchedulingEvents": {*RECORDS, *CONSUMES, "dynamodb:Query", *(EVERYWHERE - {"ecs:ListTasks"})},
    "SpotInterruption": {*RECORDS, *CONSUMES, "dynamodb:Query"},
    "InstanceState": {*RECORDS, *CONSUMES, "dynamodb:Query"},
    "RunnerLookup": {*RECORDS, *CONSUMES, "dynamodb:Query", *(EVERYWHERE - {"ecs:ListTasks"})},
    "RunRetry": {*RECORDS, *CONSUMES, "dynamodb:Query", "secretsmanager:GetSecretValue"},
    "Reconciler": {
        *RECORDS,
        *("dynamodb:Query", "dynamodb:BatchGetItem", "dynamodb:DeleteItem"),
        *("secretsmanager:GetSecretValue", "events:PutEvents"),
        *("ec2:DescribeInstances", "ecs:DescribeTasks", "ecs:ListTasks"),
    },
    "Api": {
        *LOGS,
        *("dynamodb:Query", "dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:UpdateItem"),
        *("secretsmanager:GetSecretValue", "sqs:GetQueueAttributes", "lambda:InvokeFunction"),
    },
    "GithubRequests": {*LOGS, "dynamodb:GetItem", "dynamodb:UpdateItem", "secretsmanager:GetSecretValue"},
}
# A retry of theirs reads what its earlier attempt has put.
TRACK_RUNNERS = {"SchedulingEvents", "SpotInterruption", "InstanceState", "RunnerLookup"}
RECORDERS = sorted(ALLOWED.keys() - {"Api", "GithubRequests"})


def test_every_function_has_a_list_of_permissions(templates: Templates) -> None:
    assert functions(templates).keys() == ALLOWED.keys()


@pytest.mark.parametrize("name", ALLOWED)
def test_a_function_has_exactly_the_listed_permissions(templates: Templates, name: str) -> None:
    template, function = functions(templates)[name]
    role = function["Role"]["Fn::GetAtt"][0]
    granted = statements(template, role)
    assert {action for statement in granted for action in as_list(statement["Action"])} == ALLOWED[name]
    assert all(statement["Effect"] == "Allow" for statement in granted)
    for statement in granted:
        if any("*" in str(resource) for resource in as_list(statement["Resource"])):
            assert set(as_list(statement["Action"])) <= EVERYWHERE
    assert "ManagedPolicyArns" not in template["Resources"][role]["Properties"]


@pytest.mark.parametrize("name", RECORDERS)
def test_history_can_be_put_but_not_deleted(templates: Templates, name: str) -> None:
    template, function = functions(templates)[name]
    on_history = [
        statement
        for statement in statements(template, function["Role"]["Fn::GetAtt"][0])
        if "WorkflowJobEvents" in str(statement["Resource"])
    ]
    allowed = {action for statement in on_history for action in as_list(statement["Action"])}
    assert allowed == {"dynamodb:PutItem"} | ({"dynamodb:Query"} if name in {*TRACK_RUNNERS, "Reconciler"} else set())


@pytest.mark.parametrize("name", ALLOWED)
def test_a_function_runs_on_arm_and_its_environment_holds_no_secret(templates: Templates, name: str) -> None:
    _, function = functions(templates)[name]
    assert (function["Runtime"], function["Architectures"]) == ("python3.13", ["arm64"])
    assert "resolve:secretsmanager" not in str(function["Environment"])


@pytest.mark.parametrize("name", ALLOWED)
def test_a_function_has_the_name_and_the_stage_that_its_metrics_carry(templates: Templates, name: str) -> None:
    """Without them, alarms would look at metrics that are never written."""
    _, function = functions(templates)[name]
    variables = function["Environment"]["Variables"]
    assert variables["FUNCTION"] == function["Handler"].removesuffix(".handler")
    assert variables["STAGE"] == "prod"


def test_no_function_may_scan_a_table() -> None:
    """With every optional part: wildcards in actions count, and so do managed policies."""
    deployed = functions(synthesise(**EVERYTHING))
    assert len(deployed) > len(ALLOWED)
    for template, function in deployed.values():
        role = function["Role"]["Fn::GetAtt"][0]
        actions = {action for each in statements(template, role) for action in as_list(each["Action"])}
        assert not [action for action in actions if fnmatch("dynamodb:scan", action.lower())]
        assert "ManagedPolicyArns" not in template["Resources"][role]["Properties"]
        assert "Policies" not in template["Resources"][role]["Properties"]


def test_no_code_that_is_deployed_scans_a_table() -> None:
    deployed = [file for folder in ("functions", "layers") for file in (ROOT / folder).rglob("*.py")]
    called = re.compile(r"\.scan\(|[\"']scan[\"']|dynamodb:Scan", re.IGNORECASE)
    assert len(deployed) > 50
    assert [file.name for file in deployed if called.search(file.read_text())] == []


def test_the_api_writes_pass_requests_into_the_runners_table_and_nothing_else(templates: Templates) -> None:
    template, function = functions(templates)["Api"]
    limited = [
        statement
        for statement in statements(template, function["Role"]["Fn::GetAtt"][0])
        if "Runners" in str(statement["Resource"]) and "UpdateItem" in str(statement["Action"])
    ]
    (statement,) = limited
    assert statement["Condition"] == {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": ["passes"]}}


def test_the_api_counts_every_dead_letter_queue(templates: Templates) -> None:
    _, function = functions(templates)["Api"]
    counted = str(function["Environment"]["Variables"]["DEAD_LETTER_QUEUES"])
    queues = [name for each in templates.values() for name, queue in of_type(each, "AWS::SQS::Queue").items()]
    dead = [name for name in queues if "DeadLetters" in name]
    assert len(dead) > 5
    assert [name for name in dead if name.partition("DeadLetters")[0] not in counted] == []


def test_the_api_responds_in_time_when_it_waits_as_long_as_it_may(templates: Templates) -> None:
    """First for another reader's refresh, then to connect and for its own; the rest is for reading and responding."""
    _, api = functions(templates)["Api"]
    _, github = functions(templates)["GithubRequests"]
    waits = int(api["Environment"]["Variables"]["GITHUB_REQUESTS_SECONDS"])
    assert waits > github["Timeout"]
    assert caches.LONGEST_WAIT_SECONDS + 1 + waits + 3 <= api["Timeout"] < 30


def test_retention_reaches_the_functions() -> None:
    found = functions(synthesise(workflow_jobs_retention_days="7", workflow_job_events_retention_days=3))
    for name in RECORDERS:
        _, function = found[name]
        environment = function["Environment"]["Variables"]
        assert (environment["JOBS_RETENTION_DAYS"], environment["JOB_EVENTS_RETENTION_DAYS"]) == ("7", "3")


def test_the_reconciler_may_stop_what_has_all_the_tags_of_a_runner_and_nothing_else() -> None:
    tags = {"runner_tags": "team=ci,runner=*", "keep_tags": "pool=idle"}
    template, function = functions(synthesise(orphans="enforce", **tags))["Reconciler"]
    (stops,) = [
        statement
        for statement in statements(template, function["Role"]["Fn::GetAtt"][0])
        if "ec2:TerminateInstances" in as_list(statement["Action"])
    ]
    assert stops["Action"] == ["ec2:TerminateInstances", "ecs:StopTask"]
    assert stops["Condition"] == {
        "StringLike": {"aws:ResourceTag/team": "ci", "aws:ResourceTag/runner": "*"},
        "StringNotLike": {"aws:ResourceTag/pool": "idle"},
        "StringEqualsIgnoreCaseIfExists": {"aws:ResourceTag/ghr:bypass-removal": "false"},
    }


def test_the_reconciler_may_stop_tasks_in_the_listed_clusters_only() -> None:
    template, function = functions(synthesise(runner_tags="team=ci", ecs_clusters="ci, gpu"))["Reconciler"]
    (stops,) = [
        statement
        for statement in statements(template, function["Role"]["Fn::GetAtt"][0])
        if "ecs:StopTask" in as_list(statement["Action"])
    ]
    tasks = [str(each) for each in stops["Resource"] if ":task/" in str(each)]
    assert [each.partition(":task/")[2].partition("'")[0] for each in tasks] == ["ci/*", "gpu/*"]


def test_with_snap_start_what_is_behind_the_api_runs_from_a_published_version() -> None:
    templates = synthesise(snap_start="true")
    found = functions(templates)
    started = {name for name, (_, function) in found.items() if "SnapStart" in function}
    assert started == {"WebhookIntake", "Api"}
    assert {found[name][1]["SnapStart"]["ApplyOn"] for name in started} == {"PublishedVersions"}
    aliases = set(of_type(templates["api"], "AWS::Lambda::Alias"))
    integrations = of_type(templates["api"], "AWS::ApiGatewayV2::Integration").values()
    assert {each["IntegrationUri"]["Ref"] for each in integrations} == aliases


def fed(templates: Templates) -> Iterator[tuple[str, dict[str, Any], dict[str, Any], dict[str, Any]]]:
    """Each function that a queue feeds: its file, itself, its trigger and the queue."""
    for stack in ("events", "api"):
        template = templates[stack]
        for trigger in of_type(template, "AWS::Lambda::EventSourceMapping").values():
            function = of_type(template, "AWS::Lambda::Function")[trigger["FunctionName"]["Ref"]]
            queue = of_type(template, "AWS::SQS::Queue")[trigger["EventSourceArn"]["Fn::GetAtt"][0]]
            yield function["Handler"].removesuffix(".handler"), function, trigger, queue


@pytest.mark.parametrize("regions", ["", "eu-west-1,ap-southeast-2"])
def test_messages_stay_invisible_for_six_time_outs_of_their_function(regions: str) -> None:
    found = list(fed(synthesise(runner_regions=regions)))
    assert len(found) == 6
    for _, function, _, queue in found:
        assert queue["VisibilityTimeout"] >= 6 * function["Timeout"]


@pytest.mark.parametrize(("regions", "calls"), [("", 3), ("eu-west-1", 4), ("eu-west-1,ap-southeast-2", 5)])
def test_a_lookup_ends_before_its_function_does_even_if_every_call_takes_its_longest(regions: str, calls: int) -> None:
    """A call in each region, the list price and the spot price; and then it is recorded."""
    slow: Any = clients.SLOW
    attempts = slow.retries["total_max_attempts"]
    call = (slow.connect_timeout + slow.read_timeout) * attempts + (attempts - 1)
    functions = {name: function for name, function, _, _ in fed(synthesise(runner_regions=regions))}
    for name in ("runner_lookup", "scheduling_events"):
        assert functions[name]["Timeout"] >= calls * call + 10


def test_a_function_that_waits_for_other_services_takes_one_message_at_a_time(templates: Templates) -> None:
    sizes = {name: trigger["BatchSize"] for name, _, trigger, _ in fed(templates)}
    waiting = {"runner_lookup", "scheduling_events", "run_retry"}
    assert {name for name, size in sizes.items() if size == 1} == waiting


def test_the_code_of_every_function_is_a_file_that_no_version_changes() -> None:
    """Another file would be a second call in an upgrade, and requests between the two calls would fail."""
    codes = {function["Code"]["S3Key"] for _, function in functions(synthesise(**EVERYTHING)).values()}
    assert codes == {CODE}
