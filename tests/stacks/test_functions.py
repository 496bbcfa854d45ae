"""Each function may do exactly what it does."""

from typing import Any

import pytest

from tests.synthesis import Template, Templates, of_type, synthesise

LOGS = {"logs:CreateLogStream", "logs:PutLogEvents"}
# Recording is the same for all who do it, and so are the errands that may follow from it.
RECORDS = {"dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem", "sqs:SendMessage", *LOGS}
CONSUMES = {
    "sqs:ReceiveMessage",
    "sqs:ChangeMessageVisibility",
    "sqs:GetQueueUrl",
    "sqs:DeleteMessage",
    "sqs:GetQueueAttributes",
}
# Descriptions and prices, which AWS grants for all resources or none.
EVERYWHERE = {"ec2:DescribeInstances", "ec2:DescribeSpotPriceHistory", "ecs:DescribeTasks", "pricing:GetProducts"}
ALLOWED = {
    "WebhookIntake": {*RECORDS, "secretsmanager:GetSecretValue"},
    "WebhookRetry": {*RECORDS, *CONSUMES},
    "SchedulingEvents": {*RECORDS, *CONSUMES, "ec2:DescribeSpotPriceHistory", "pricing:GetProducts"},
    "SpotInterruption": {*RECORDS, *CONSUMES},
    "InstanceState": {*RECORDS, *CONSUMES},
    "RunnerLookup": {*RECORDS, *CONSUMES, *EVERYWHERE},
    "RunRetry": {*RECORDS, *CONSUMES, "secretsmanager:GetSecretValue"},
    "ForgottenApprovals": {
        *LOGS,
        "dynamodb:Query",
        "dynamodb:BatchGetItem",
        "dynamodb:GetItem",
        "dynamodb:UpdateItem",
        "secretsmanager:GetSecretValue",
    },
}
RECORDERS = sorted(ALLOWED.keys() - {"ForgottenApprovals"})


def functions(templates: Templates) -> dict[str, tuple[Template, dict[str, Any]]]:
    return {
        output.removesuffix("Function"): (
            template,
            template["Resources"][template["Outputs"][output]["Value"]["Ref"]]["Properties"],
        )
        for template in templates.values()
        for output in template.get("Outputs", {})
        if output.endswith("Function")
    }


def statements(template: Template, role: str) -> list[dict[str, Any]]:
    return [
        statement
        for policy in of_type(template, "AWS::IAM::Policy").values()
        if {"Ref": role} in policy["Roles"]
        for statement in policy["PolicyDocument"]["Statement"]
    ]


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def test_every_function_is_here(templates: Templates) -> None:
    assert functions(templates).keys() == ALLOWED.keys()


@pytest.mark.parametrize("name", ALLOWED)
def test_a_function_may_do_exactly_this(templates: Templates, name: str) -> None:
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
def test_history_can_be_put_and_nothing_else(templates: Templates, name: str) -> None:
    template, function = functions(templates)[name]
    on_history = [
        statement
        for statement in statements(template, function["Role"]["Fn::GetAtt"][0])
        if "WorkflowJobEvents" in str(statement["Resource"])
    ]
    assert [statement["Action"] for statement in on_history] == ["dynamodb:PutItem"]


@pytest.mark.parametrize("name", ALLOWED)
def test_a_function_runs_on_arm_and_its_environment_holds_no_secret(templates: Templates, name: str) -> None:
    _, function = functions(templates)[name]
    assert (function["Runtime"], function["Architectures"]) == ("python3.13", ["arm64"])
    assert "resolve:secretsmanager" not in str(function["Environment"])


def test_retention_reaches_the_functions() -> None:
    found = functions(synthesise(workflow_jobs_retention_days="7", workflow_job_events_retention_days=3))
    for name in RECORDERS:
        _, function = found[name]
        environment = function["Environment"]["Variables"]
        assert (environment["JOBS_RETENTION_DAYS"], environment["JOB_EVENTS_RETENTION_DAYS"]) == ("7", "3")
