"""The setting `releases`: what it adds to the templates, and nothing else."""

import json
import re

import pytest
from runledger.releases.lines import STALE_SECONDS
from runledger.releases.queue import LONGEST_DELAY_SECONDS

from stacks.constructs.rebuilds import REBUILDS_TIMEOUT
from stacks.settings import Settings
from stacks.settings_reader import BadSetting
from tests.stacks.test_feed import actions, mappings
from tests.stacks.test_functions import ALLOWED, LOGS
from tests.stacks.test_notifications import granted
from tests.stacks.test_references import exports
from tests.support.synthesis import Templates, of_type, synthesise
from tests.support.template_functions import as_list, functions, statements

MOST_LOOKED_UP = 40  # with the feed and notifications, which have a test of their own
READS_STREAMS = {
    *("dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator", "dynamodb:ListStreams"),
    *("sqs:SendMessage", "sqs:GetQueueAttributes", "sqs:GetQueueUrl"),
}
WRITES = {"dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:DeleteItem"}
API_UPDATES = "build file packages repository dependents builds package_heads posts"
OF_HEADS = {
    *LOGS,
    *READS_STREAMS,
    *("dynamodb:GetItem", "dynamodb:Query", "dynamodb:PutItem", "dynamodb:UpdateItem"),
}


@pytest.fixture(scope="module")
def with_releases() -> Templates:
    return synthesise(releases=True)


@pytest.fixture(scope="module")
def with_all() -> Templates:
    return synthesise(releases=True, feeds=True, notifications=True)


def streams(found: Templates) -> dict[str, str]:
    """The tables with a stream, and its view."""
    tables = of_type(found["data"], "AWS::DynamoDB::Table").items()
    return {
        re.split(r"[0-9A-F]{8}$", name)[0]: each["StreamSpecification"]["StreamViewType"]
        for name, each in tables
        if "StreamSpecification" in each
    }


def test_by_default_there_is_nothing_of_releases(templates: Templates) -> None:
    assert synthesise(releases=False, rebuild_dependents="dry_run", releases_retention_days=90) == templates
    assert "RELEASE" not in json.dumps(templates)


def test_only_runs_and_deployments_have_streams_without_the_feed(with_releases: Templates) -> None:
    assert streams(with_releases) == dict.fromkeys(("WorkflowRuns", "Deployments"), "NEW_AND_OLD_IMAGES")
    assert len(mappings(with_releases["events"])) == 2


def test_with_the_feed_the_table_of_releases_has_a_stream_too(with_all: Templates) -> None:
    found = streams(with_all)
    assert found["Releases"] == "NEW_AND_OLD_IMAGES"
    mapped = [json.dumps(each["EventSourceArn"]) for each in mappings(with_all["events"])]
    assert sum("ReleasesStreamArn" in each for each in mapped) == 1
    assert sum("WorkflowRunsStreamArn" in each for each in mapped) == 2
    _, function = functions(with_all)["FeedStream"]
    assert "RELEASES_TABLE" in function["Environment"]["Variables"]


def test_heads_are_computed_with_exactly_these_permissions(with_releases: Templates) -> None:
    assert actions(with_releases, "ReleaseStream") == OF_HEADS
    for name in ALLOWED.keys() - {"Api", "WebhookIntake", "WebhookRetry", "Reconciler", "GithubRequests"}:
        assert actions(with_releases, name) == ALLOWED[name]


def test_the_api_writes_what_publishers_report_and_nothing_else(with_releases: Templates) -> None:
    template, function = functions(with_releases)["Api"]
    allowed = statements(template, function["Role"]["Fn::GetAtt"][0])
    kinds = set()
    for each in allowed:
        if WRITES & set(as_list(each["Action"])):
            (condition,) = each["Condition"].values()
            kinds |= {key.partition("#")[2].partition("#")[0] for key in condition["dynamodb:LeadingKeys"]}
    reported = {"packages", "repository", "dependents", "builds", "build", "file", "package_heads", "posts"}
    assert kinds == {"", *reported}  # and requests for passes, whose key has one part


@pytest.mark.parametrize(
    ("function", "written"),
    [
        ("Api", {"PutItem": "build file", "UpdateItem": API_UPDATES, "DeleteItem": "dependents repository"}),
        (
            "ReleaseStream",
            {"PutItem": "heads branch_heads environments", "UpdateItem": "runs branch_runs commits deployments line"},
        ),
        (
            "ReleasePublications",
            {
                "PutItem": "versions line lines",
                "UpdateItem": "packages versions repository dependents line",
                "DeleteItem": "dependents repository",
            },
        ),
        ("ReleaseRebuilds", {"PutItem": "rebuild", "UpdateItem": "line dispatches"}),
    ],
)
def test_each_function_changes_only_its_own_kinds_of_items(
    with_releases: Templates, function: str, written: dict[str, str]
) -> None:
    found = {
        action.removeprefix("dynamodb:"): each["Condition"]["ForAllValues:StringLike"]["dynamodb:LeadingKeys"]
        for each in granted(with_releases, function)
        for action in as_list(each["Action"])
        if action in WRITES and "runledger-prod-releases" in json.dumps(each["Resource"])
    }
    assert found == {
        action: [pattern for kind in kinds.split() for pattern in (f"*#{kind}", f"*#{kind}#*")]
        for action, kinds in written.items()
    }


def test_the_streams_are_split_on_errors_retried_and_not_dropped_silently(with_releases: Templates) -> None:
    for each in mappings(with_releases["events"]):
        assert each["BisectBatchOnFunctionError"] is True
        assert each["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
        assert (each["MaximumRetryAttempts"], each["StartingPosition"]) == (-1, "TRIM_HORIZON")
        assert "ReleaseStreamDeadLetters" in json.dumps(each["DestinationConfig"]["OnFailure"])
        (pattern,) = each["FilterCriteria"]["Filters"]
        assert '"eventName":["INSERT","MODIFY"]' in pattern["Pattern"]


def test_the_table_has_no_index_and_expires_items(with_releases: Templates) -> None:
    (table,) = [
        each
        for name, each in of_type(with_releases["data"], "AWS::DynamoDB::Table").items()
        if name.startswith("Releases")
    ]
    assert table["TableName"] == "runledger-prod-releases"
    assert "GlobalSecondaryIndexes" not in table
    assert table["TimeToLiveSpecification"] == {"AttributeName": "ttl", "Enabled": True}


def test_heads_are_watched(templates: Templates, with_releases: Templates) -> None:
    def alarms(found: Templates) -> set[str]:
        return {
            each["AlarmName"].removeprefix("runledger-prod-")
            for template in found.values()
            for each in of_type(template, "AWS::CloudWatch::Alarm").values()
        }

    assert alarms(with_releases) - alarms(templates) >= {
        *("HeadsDelayed", "DeadLetters-ReleaseStream", "FunctionErrors-release_stream"),
        *("MessageFailures-release_stream", "Throttled-releases-PutItem", "Throttled-releases-UpdateItem"),
    }


def test_nothing_that_goes_with_the_setting_is_exported(templates: Templates, with_all: Templates) -> None:
    """An export that another stack imports would block the update that turns releases off."""
    for name in templates:
        assert exports(with_all[name]).keys() == exports(templates[name]).keys()
        assert json.dumps(with_all[name]).count('"Fn::GetStackOutput"') <= MOST_LOOKED_UP
    looked_up = set(re.findall(r'"OutputName": "([^"]+)"', json.dumps(with_all)))
    outputs = {name for template in with_all.values() for name in template.get("Outputs", {})}
    assert looked_up <= outputs


@pytest.mark.parametrize("value", ["", "yes", "always", True])
def test_an_unknown_mode_of_rebuilds_is_rejected(value: object) -> None:
    with pytest.raises(BadSetting, match="rebuild_dependents"):
        Settings.read({"rebuild_dependents": value}.get)


def test_lambda_does_not_take_the_retries_of_rebuilds_for_an_endless_loop(with_releases: Templates) -> None:
    """While GitHub is unavailable, a line is put on its own queue each minute: see `sends_to_itself`."""
    for name, (_, function) in functions(with_releases).items():
        assert function.get("RecursiveLoop") == ("Allow" if name == "ReleaseRebuilds" else None), name


def test_lines_that_wait_for_a_rate_limit_trigger_no_alarm(with_releases: Templates) -> None:
    """They are delayed on purpose, and the age of a message includes its delay."""
    alarms = of_type(with_releases["events"], "AWS::CloudWatch::Alarm").values()
    (age,) = [each for each in alarms if each["AlarmName"].endswith("QueueAge-Rebuilds")]
    assert age["Threshold"] >= 2 * LONGEST_DELAY_SECONDS


def test_a_claim_is_never_stale_while_its_function_runs() -> None:
    assert REBUILDS_TIMEOUT.to_seconds() < STALE_SECONDS
