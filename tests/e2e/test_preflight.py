"""`make preflight` after a deployment."""

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest

from local.aws import clients as aws
from local.aws import emulator
from local.aws.outputs import Outputs
from local.demo.workload import Played
from preflight.results import State
from tests.preflight.test_before import run_preflight

AFTER = ("webhook", "app key", "alarms", "operator")


@pytest.fixture
def checks(outputs: Outputs, played: Played) -> dict[str, tuple[str, str]]:
    assert played
    return run(outputs)


def run(outputs: Outputs, *arguments: str) -> dict[str, tuple[str, str]]:
    of_local = ("-c", "stage=local", "-c", f"github_api_url={outputs.github_api_url}")
    where = {"AWS_ENDPOINT_URL": outputs.endpoint_url, "AWS_REGION": outputs.region}
    return run_preflight(*of_local, *arguments, **where, **emulator.CREDENTIALS)[1]


def test_a_deployment_is_found_and_can_be_updated(checks: dict[str, tuple[str, str]]) -> None:
    before = {name: state for name, (state, _) in checks.items() if name not in AFTER}
    problems = {name: text for name, (state, text) in checks.items() if state == State.PROBLEM and name not in AFTER}
    assert problems == {}
    assert checks["stacks"][1] == "4 of 4 exist and can be updated"
    assert before["runner_tags"] == State.SKIPPED


def test_what_works_is_ok_and_what_is_missing_has_a_remedy(checks: dict[str, tuple[str, str]]) -> None:
    assert [checks[name][0] for name in AFTER] == [State.OK, State.OK, State.PROBLEM, State.OK]
    assert "local-admin" in checks["operator"][1]
    assert "aws sns subscribe --topic-arn arn:aws:sns:" in checks["alarms"][1]


def test_a_subscriber_is_found(outputs: Outputs) -> None:
    with closing(aws.client(outputs, "sns")) as sns, closing(aws.client(outputs, "sqs")) as sqs:
        (topic,) = [each["TopicArn"] for each in sns.list_topics()["Topics"] if each["TopicArn"].endswith("-alarms")]
        queue = sqs.create_queue(QueueName="preflight-alarms")["QueueUrl"]
        arn = sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
        made = sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=arn, ReturnSubscriptionArn=True)
        found = run(outputs)["alarms"]
        sns.unsubscribe(SubscriptionArn=made["SubscriptionArn"])
        sqs.delete_queue(QueueUrl=queue)
    assert found == (State.OK, "1 subscriber(s)")


def test_a_wrong_app_key_is_a_problem(outputs: Outputs) -> None:
    with secret(outputs, "GitHubAppSecretArn", {"app_id": "1", "private_key": "not a key"}):
        assert run(outputs)["app key"][0] == State.PROBLEM
    with secret(outputs, "GitHubAppSecretArn", {}):
        assert run(outputs)["app key"][0] == State.SKIPPED


def test_a_reader_is_no_operator(outputs: Outputs) -> None:
    reader = {"name": "ci", "role": "reader", "sha256": "0" * 64, "installations": "*"}
    with secret(outputs, "ApiTokensSecretArn", {"tokens": [reader]}):
        state, text = run(outputs)["operator"]
    assert state == State.PROBLEM
    assert "runledger token create NAME --role operator --installations all --stage local" in text


def test_two_stages_that_stop_machines_need_different_tags(outputs: Outputs) -> None:
    """The deployment here terminates machines with the tag runledger:runner=demo."""
    other = ("-c", "stage=other", "-c", "orphans=enforce", "-c")
    state, text = run(outputs, *other, "runner_tags=runledger:runner=*")["runner_tags"]
    assert state == State.PROBLEM
    assert f"runledger-local-events in {outputs.region} terminates machines too" in text
    assert run(outputs, *other, "runner_tags=runledger:runner=other")["runner_tags"][0] == State.OK


@contextmanager
def secret(outputs: Outputs, name: str, value: dict[str, Any]) -> Iterator[None]:
    """The secret that this output of a stack names has another value for a while."""
    with closing(aws.client(outputs, "cloudformation")) as stacks:
        listed = [each for stack in stacks.describe_stacks()["Stacks"] for each in stack.get("Outputs", [])]
    with closing(aws.client(outputs, "secretsmanager")) as secrets:
        (arn,) = [each["OutputValue"] for each in listed if each["OutputKey"] == name]
        before = secrets.get_secret_value(SecretId=arn)["SecretString"]
        secrets.put_secret_value(SecretId=arn, SecretString=json.dumps(value))
        try:
            yield
        finally:
            secrets.put_secret_value(SecretId=arn, SecretString=before)
