"""`make preflight` before a deployment, in an account of the emulated AWS where nothing, or the wrong things, exist."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber

from local.aws import emulator
from preflight import account, machine
from preflight.results import Caution, Check, Ok, Outcome, Problem, State

ROOT = Path(__file__).parent.parent.parent
PACKAGES = ":".join(f"layers/{name}/python" for name in ("domain", "github", "api"))
TEMPLATE = '{"Resources": {"Topic": {"Type": "AWS::SNS::Topic"}}}'
OURS = [{"Key": "application", "Value": "runledger"}]
Client = Callable[..., Any]

server = pytest.mark.server


def run_preflight(*arguments: str, **variables: str) -> tuple[int, dict[str, tuple[str, str]]]:
    """The exit code, and state and text by check."""
    ran = subprocess.run(
        [sys.executable, "-m", "preflight", *arguments],
        cwd=ROOT,
        env={"PATH": f"{ROOT}/.venv/tools:{os.environ['PATH']}", "PYTHONPATH": PACKAGES, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.stderr == ""
    *lines, _total = ran.stdout.splitlines()
    return ran.returncode, {line[9:23].strip(): (line[:8].strip(), line[24:]) for line in lines}


@pytest.fixture(scope="module")
def variables(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    with emulator.running(tmp_path_factory.mktemp("preflight")) as url:
        yield {"AWS_ENDPOINT_URL": url, "AWS_REGION": emulator.REGION, **emulator.CREDENTIALS}


@pytest.fixture
def client(variables: dict[str, str]) -> Iterator[Client]:
    made: list[Any] = []

    def make(service: Any, region: str | None = None) -> Any:
        made.append(boto3.client(service, region_name=region, endpoint_url=variables["AWS_ENDPOINT_URL"]))
        return made[-1]

    yield make
    for each in made:
        each.close()


@server
def test_an_empty_account_lacks_only_the_bootstrap(variables: dict[str, str]) -> None:
    code, checks = run_preflight("-c", "stage=empty", **variables)
    assert code == 1
    assert {name for name, (state, _) in checks.items() if state == State.PROBLEM} == {"bootstrap"}
    assert checks["bootstrap"][1].endswith("run `cdk bootstrap`")
    assert checks["stacks"][1] == "the stage empty has no stacks yet: this is its first deployment"
    assert checks["credentials"][1].startswith("account 000000000000 as arn:aws")
    after = ("webhook", "app key", "alarms", "operator")
    assert [checks[name] for name in after] == [(State.SKIPPED, "not deployed yet")] * 4


@server
@pytest.mark.parametrize(("version", "state"), [("5", State.PROBLEM), ("6", State.OK), ("30", State.OK)])
def test_the_bootstrap_must_be_recent(variables: dict[str, str], client: Client, version: str, state: State) -> None:
    with closing(client("ssm")) as ssm:
        ssm.put_parameter(Name=account.BOOTSTRAP_VERSION, Value=version, Type="String", Overwrite=True)
        _, checks = run_preflight("-c", "stage=empty", **variables)
        ssm.delete_parameter(Name=account.BOOTSTRAP_VERSION)
    assert checks["bootstrap"][0] == state


@server
def test_a_foreign_stack_of_our_name_is_a_problem(variables: dict[str, str], client: Client) -> None:
    client("cloudformation").create_stack(StackName="runledger-foreign-api", TemplateBody=TEMPLATE)
    _, checks = run_preflight("-c", "stage=foreign", **variables)
    assert checks["stacks"] == (
        State.PROBLEM,
        "runledger-foreign-api isn't a Runledger stack: choose another `stage`",
    )


@server
def test_names_that_are_taken_are_listed(variables: dict[str, str], client: Client) -> None:
    client("cloudwatch").put_dashboard(DashboardName="runledger-taken", DashboardBody='{"widgets": []}')
    client("events").create_event_bus(Name="runledger-taken")
    client("sns").create_topic(Name="runledger-taken-alarms")
    groups = ("/runledger/taken/webhook_intake", "/aws/vendedlogs/runledger/taken/api")
    for group in groups:
        client("logs").create_log_group(logGroupName=group)
    _, checks = run_preflight("-c", "stage=taken", **variables)
    state, text = checks["names"]
    assert state == State.PROBLEM
    names = ("dashboard runledger-taken", "topic runledger-taken-alarms", "event bus runledger-taken")
    assert ", ".join((*names, *(f"log group {group}" for group in groups))) in text


@server
def test_alarms_and_the_bus_of_a_deployment_that_stopped_halfway_are_its_own(
    variables: dict[str, str], client: Client
) -> None:
    """`observability` does not exist yet, but `events` has made its alarms and the bus."""
    resources = {
        "Bus": {"Type": "AWS::Events::EventBus", "Properties": {"Name": "runledger-halfway"}},
        "Alarm": {"Type": "AWS::CloudWatch::Alarm", "Properties": alarm("runledger-halfway-DeadLetters-RerunChecks")},
        "Logs": {"Type": "AWS::Logs::LogGroup", "Properties": {"LogGroupName": "/runledger/halfway/run_retry"}},
    }
    template = json.dumps({"Resources": resources})
    client("cloudformation").create_stack(StackName="runledger-halfway-events", TemplateBody=template, Tags=OURS)
    _, checks = run_preflight("-c", "stage=halfway", **variables)
    assert checks["names"] == (State.OK, "free, or in use by this deployment")
    client("cloudwatch").put_metric_alarm(**alarm("runledger-halfway-QueueTime"))
    _, checks = run_preflight("-c", "stage=halfway", **variables)
    assert checks["names"][1].startswith("already used by something else: alarm runledger-halfway-QueueTime: ")


@server
def test_the_forwarder_of_a_deployment_in_another_region_takes_no_name(
    variables: dict[str, str], client: Client
) -> None:
    """Its alarm and its topic begin with the name of the stage, as those of a deployment in this region do."""
    forwarder = "runledger-shared-us-east-1-to-eu-west-1"
    resources = {
        "Alarm": {"Type": "AWS::CloudWatch::Alarm", "Properties": alarm(f"{forwarder}-DeadLetters-Forwarding")},
        "Topic": {"Type": "AWS::SNS::Topic", "Properties": {"TopicName": f"{forwarder}-alarms"}},
    }
    template = json.dumps({"Resources": resources})
    client("cloudformation").create_stack(StackName=forwarder, TemplateBody=template, Tags=OURS)
    _, checks = run_preflight("-c", "stage=shared", **variables)
    assert checks["names"] == (State.OK, "free, or in use by this deployment")


def alarm(name: str) -> dict[str, Any]:
    return {
        "AlarmName": name,
        "Namespace": "Runledger",
        "MetricName": "QueueTime",
        "ComparisonOperator": "GreaterThanThreshold",
        "EvaluationPeriods": 1,
        "Period": 300,
        "Statistic": "Sum",
        "Threshold": 0,
    }


@server
def test_each_other_region_with_runners_is_checked(variables: dict[str, str], client: Client) -> None:
    regions = ("-c", "stage=spread", "-c", "runner_regions=us-east-1,eu-west-1")
    _, checks = run_preflight(*regions, **variables)
    assert checks["eu-west-1"] == (
        State.PROBLEM,
        "CDK isn't bootstrapped in this account and region: run `cdk bootstrap aws://000000000000/eu-west-1`",
    )
    client("ssm", "eu-west-1").put_parameter(Name=account.BOOTSTRAP_VERSION, Value="30", Type="String")
    forwarder = "runledger-spread-eu-west-1-to-us-east-1"
    _, checks = run_preflight(*regions, **variables)
    assert checks["eu-west-1"] == (State.OK, f"bootstrap version 30; {forwarder} doesn't exist yet")
    stack = client("cloudformation", "eu-west-1")
    stack.create_stack(StackName=forwarder, TemplateBody=TEMPLATE)
    _, checks = run_preflight(*regions, **variables)
    assert checks["eu-west-1"] == (State.PROBLEM, f"{forwarder} isn't a Runledger stack: choose another `stage`")
    stack.delete_stack(StackName=forwarder)
    stack.create_stack(StackName=forwarder, TemplateBody=TEMPLATE, Tags=OURS)
    _, checks = run_preflight(*regions, **variables)
    assert checks["eu-west-1"] == (State.OK, f"bootstrap version 30; {forwarder} can be updated")


@server
def test_what_an_earlier_installation_left_is_listed(variables: dict[str, str], client: Client) -> None:
    table = "runledger-left-data-WorkflowJobs1A2B-X"
    client("dynamodb").create_table(
        TableName=table,
        KeySchema=[{"AttributeName": "PK", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "PK", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    client("sqs").create_queue(QueueName="runledger-left-events-RunnerLookupsQueue1A2B-X")
    _, checks = run_preflight("-c", "stage=left", **variables)
    state, text = checks["leftovers"]
    assert state == State.PROBLEM
    for name in (f"table {table}", "queue runledger-left-events-RunnerLookupsQueue1A2B-X"):
        assert name in text


@server
def test_wrong_credentials_skip_what_needs_them() -> None:
    unreachable = {"AWS_ENDPOINT_URL": "http://127.0.0.1:1", "AWS_REGION": "us-east-1", "AWS_MAX_ATTEMPTS": "1"}
    code, checks = run_preflight(**unreachable, **emulator.CREDENTIALS)
    assert (code, checks["credentials"][0], checks["account"][0]) == (1, State.PROBLEM, State.SKIPPED)
    assert "bootstrap" not in checks


def test_no_region_is_a_problem() -> None:
    code, checks = run_preflight(AWS_CONFIG_FILE=os.devnull, AWS_SHARED_CREDENTIALS_FILE=os.devnull)
    assert code == 1
    assert checks["region"] == (State.PROBLEM, "none is chosen: set AWS_REGION, or `region` in your AWS profile")


def test_a_bad_setting_is_a_problem() -> None:
    code, checks = run_preflight("-c", "stage=Not_A_Stage")
    assert (code, checks["settings"][0]) == (1, State.PROBLEM)
    assert checks["settings"][1].startswith("stage is 'Not_A_Stage'; it must be")


def test_a_misspelled_setting_is_reported_with_a_suggestion() -> None:
    _, checks = run_preflight("-c", "stagee=prod")
    assert checks["settings"][1] == "stagee is not a setting: did you mean stage? See docs/settings.md"


@pytest.mark.parametrize(("version", "is_ok"), [((3, 10, 4), False), ((3, 11, 0), True), ((3, 14, 1), True)])
def test_python_must_be_recent(version: tuple[int, ...], is_ok: bool) -> None:
    assert isinstance(machine.python(version), Ok if is_ok else Problem)


@pytest.mark.parametrize(
    ("shown", "expected"),
    [("v18.20.0", Problem), ("v20.19.0", Caution), ("v22.0.0", Ok), ("v24.0.0", Ok), ("", Problem)],
)
def test_node_must_be_recent(tmp_path: Path, shown: str, expected: type[Outcome]) -> None:
    node = tmp_path / "node"
    node.write_text(f"#!/bin/sh\necho {shown}\n")
    node.chmod(0o755)
    assert isinstance(machine.node(str(tmp_path)), expected)


def test_a_caution_is_reported_as_a_warning_with_its_remedy() -> None:
    result = Check(name="node", run=lambda: Caution("v20.19.0 is old", "install a newer one")).result()
    assert result.state is State.WARNING
    assert result.line() == "warning  node           v20.19.0 is old: install a newer one"


def test_no_node_is_a_problem(tmp_path: Path) -> None:
    assert machine.node(str(tmp_path)) == Problem("node isn't installed", "run `make install`, which installs it")


@pytest.mark.parametrize(("free", "is_ok"), [(10, False), (49, False), (50, True), (1000, True)])
def test_a_new_account_s_concurrency_is_a_problem(free: int, is_ok: bool) -> None:
    """The emulated AWS has no such limit."""
    with closing(boto3.client("lambda")) as client, Stubber(client) as stubber:
        stubber.add_response("get_account_settings", {"AccountLimit": {"UnreservedConcurrentExecutions": free}})
        found = account.concurrency(SimpleNamespace(client=lambda _: client))
    assert isinstance(found, Ok if is_ok else Problem)


def test_a_refusal_of_aws_is_a_problem_and_no_traceback() -> None:
    with closing(boto3.client("ssm")) as client, Stubber(client) as stubber:
        stubber.add_client_error("get_parameter", "AccessDeniedException", "not authorized")
        session = SimpleNamespace(client=lambda _: client)
        result = Check(name="bootstrap", run=lambda: account.bootstrap(session)).result()
    assert result.state is State.PROBLEM
    assert "not authorized" in result.line()
