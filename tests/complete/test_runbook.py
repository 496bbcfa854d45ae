"""The commands of docs/runbook.md, as they stand there, on the deployed app."""

import json
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from runledger.webhooks.retry_queue import to_message

from local.aws import clients as aws
from local.aws.outputs import Outputs
from local.github import webhooks
from tests.e2e.tables import history, job
from tests.e2e.test_webhooks import NO_INSTANCE, post
from tests.support.documents import section
from tests.support.polling import eventually
from tests.support.running_deployment import Deployment
from tests.support.shell import Shell, commands, has_tools
from tests.support.webhooks import COMPLETED, INSTALLATION, LIFE, payload, receipt

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

pytestmark = pytest.mark.skipif(not has_tools, reason="the document uses aws, jq, openssl and curl")

DOCUMENT = "runbook.md"
PREPARATION = tuple(commands((Path(__file__).parents[2] / "docs" / DOCUMENT).read_text().partition("\n## ")[0]))
REDRIVEN, REPLAYED, RESTORED, REBUILT = range(9_600_001, 9_600_005)
RECEIVES = 5


@pytest.fixture
def shell(outputs: Outputs) -> Shell:
    replaced = (("STAGE=prod", "STAGE=local"), ("$(output api ApiUrl)", outputs.api_url))
    return Shell(url=outputs.endpoint_url, preparation=PREPARATION, replaced=replaced)


def steps(heading: str) -> list[str]:
    found = commands(section(DOCUMENT, heading))
    assert found
    return found


def key_of(job_id: int) -> str:
    return f"{INSTALLATION}#{job_id}"


def play_life(outputs: Outputs, job_id: int) -> None:
    for step in LIFE:
        message = payload(step, job_id=job_id, run_id=job_id, runner_name=NO_INSTANCE)
        assert post(outputs, message, guid=f"{step} {job_id}").status == 202


def delete_job(outputs: Outputs, dynamodb: "DynamoDBClient", job_id: int) -> dict[str, Any]:
    found = job(dynamodb, outputs, key_of(job_id))
    assert found is not None
    dynamodb.delete_item(TableName=outputs.tables["workflow_jobs"], Key={"PK": {"S": key_of(job_id)}, "SK": {"S": "v"}})
    return found


def secret_arn(shell: Shell, stack: str, name: str) -> str:
    return shell.run(f"output {stack} {name}").strip()


@contextmanager
def restored_secret(outputs: Outputs, arn: str) -> Iterator[Any]:
    """Other tests use the value that it has now."""
    with closing(aws.client(outputs, "secretsmanager")) as secrets:
        before = secrets.get_secret_value(SecretId=arn)["SecretString"]
        try:
            yield lambda: json.loads(secrets.get_secret_value(SecretId=arn)["SecretString"])
        finally:
            secrets.put_secret_value(SecretId=arn, SecretString=before)


def test_dead_letters_are_listed_redriven_and_recorded(
    outputs: Outputs, dynamodb: "DynamoDBClient", shell: Shell
) -> None:
    text = section(DOCUMENT, "A dead-letter queue is not empty")
    listing, redrive = commands(text.partition("\n### Queues that can't be redriven")[0])
    deployed = Deployment(outputs=outputs)
    deployed.read_queues("webhook_retry", enabled=False)
    try:
        with closing(aws.client(outputs, "sqs")) as sqs:
            (queue,) = [url for url in sqs.list_queues()["QueueUrls"] if "WebhookRetriesQueue" in url]
            entry = receipt(COMPLETED, job_id=REDRIVEN, runner_name=NO_INSTANCE)
            sqs.send_message(QueueUrl=queue, MessageBody=to_message(entry))
            for _ in range(RECEIVES + 1):
                sqs.receive_message(QueueUrl=queue, VisibilityTimeout=0)

        def dead() -> list[str]:
            lines = [line.split() for line in shell.run(listing).splitlines()]
            return [arn for count, arn in lines if count != "0" and "WebhookRetries" in arn]

        (arn,) = eventually(dead)
        shell.run(redrive, DEAD_LETTERS=arn)
        assert dead() == []
    finally:
        deployed.read_queues("webhook_retry", enabled=True)
    found = eventually(lambda: job(dynamodb, outputs, key_of(REDRIVEN)))
    assert found["status"] == "completed"


def test_the_webhook_secret_is_rotated_without_a_rejected_delivery(outputs: Outputs, shell: Shell) -> None:
    generate, add, remove = steps("Rotate the webhook secret")

    def ping(secret: str) -> int:
        return webhooks.deliver(outputs.webhook_url, secret, "ping", b'{"zen": "Keep it simple."}').status

    with restored_secret(outputs, secret_arn(shell, "api", "WebhookSecretArn")) as stored:
        new = shell.run(generate, add, "echo $NEW").split()[-1]
        assert stored() == {"current": new, "previous": outputs.webhook_secret}
        assert [ping(outputs.webhook_secret), ping(new), ping(outputs.webhook_secret)] == [200, 200, 200]
        shell.run(remove)
        assert stored() == {"current": new}
        assert ping(new) == 200
    # A function reads a changed secret again at the first signature that it doesn't recognise.
    eventually(lambda: ping(outputs.webhook_secret) == 200)


def test_the_limits_of_a_webhook_secret_are_kept_when_it_is_rotated(outputs: Outputs, shell: Shell) -> None:
    generate, add, remove = steps("Rotate the webhook secret")
    arn = secret_arn(shell, "api", "WebhookSecretArn")
    with restored_secret(outputs, arn) as stored, closing(aws.client(outputs, "secretsmanager")) as secrets:
        limited = {"secret": outputs.webhook_secret, "installations": [INSTALLATION]}
        other = {"another": {"secret": "kept", "app": True}}
        secrets.put_secret_value(SecretId=arn, SecretString=json.dumps({"current": limited} | other))
        new = shell.run(generate, add, "echo $NEW").split()[-1]
        assert stored() == {"current": limited | {"secret": new}, "previous": limited} | other
        shell.run(remove)
        assert stored() == {"current": limited | {"secret": new}} | other


def test_a_token_is_replaced_while_both_work(outputs: Outputs, shell: Shell) -> None:
    create, check, remove = steps("Rotate a token of the API")
    with restored_secret(outputs, secret_arn(shell, "api", "ApiTokensSecretArn")) as stored:
        shell.run(create.replace('"$NAME-2"', '"$NAME"'), NAME="runbook")
        token = shell.run(create, "echo $NEW_TOKEN", NAME="runbook").strip()
        Deployment(outputs=outputs).restart("api")  # instead of the minute for which it caches the tokens
        me = shell.run(check, NEW_TOKEN=token)
        assert json.loads(me)["name"] == "runbook-2"
        names = {entry["name"] for entry in stored()["tokens"]}
        assert {"runbook", "runbook-2"} <= names
        shell.run(remove, NAME="runbook")
        assert {entry["name"] for entry in stored()["tokens"]} == names - {"runbook"}


def test_the_apps_key_is_replaced_and_nothing_else(outputs: Outputs, shell: Shell, tmp_path: Path) -> None:
    """`tests/functions/test_app_secret.py` calls GitHub before and after."""
    (replace,) = steps("Rotate the App's key")
    key = tmp_path / "new.pem"
    key.write_text("a new key")
    with restored_secret(outputs, secret_arn(shell, "events", "GitHubAppSecretArn")) as stored:
        before = stored()
        shell.run(replace, KEY=str(key))
        assert stored() == before | {"private_key": "a new key"}
    assert not key.exists()


def test_a_lost_item_comes_back_from_a_point_in_time(
    outputs: Outputs, dynamodb: "DynamoDBClient", shell: Shell
) -> None:
    _, text = section(DOCUMENT, "Restore a lost table").split("### From a point in time\n")
    table, restore, wait, copy, delete = commands(text.partition("\n### ")[0])
    play_life(outputs, RESTORED)
    assert shell.run(table, "echo $TABLE").strip() == outputs.tables["workflow_jobs"]
    before = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    shell.run(table, restore, wait, BEFORE=before)
    lost = delete_job(outputs, dynamodb, RESTORED)
    assert "1 items copied" in shell.run(table, copy)
    assert job(dynamodb, outputs, key_of(RESTORED)) == lost
    shell.run(table, delete)
    assert f"{outputs.tables['workflow_jobs']}-restored" not in dynamodb.list_tables()["TableNames"]


def test_a_lost_job_is_rebuilt_without_a_backup(outputs: Outputs, dynamodb: "DynamoDBClient", shell: Shell) -> None:
    _, text = section(DOCUMENT, "Restore a lost table").split("### Without a backup\n")
    create, rebuild = commands(text.partition("\n### ")[0])
    play_life(outputs, REBUILT)
    lost = delete_job(outputs, dynamodb, REBUILT)
    assert shell.run(create).strip() == "All tables exist"
    assert "jobs rebuilt from their history" in shell.run(rebuild)
    found = job(dynamodb, outputs, key_of(REBUILT))
    assert found is not None
    same = (
        "status",
        "conclusion",
        "started_at",
        "completed_at",
        "usage_in_seconds",
        "runner_name",
        "repo_full_name",
        "by_run",
    )
    assert {name: found.get(name) for name in same} == {name: lost.get(name) for name in same}


def test_a_jobs_history_is_replayed(outputs: Outputs, dynamodb: "DynamoDBClient", shell: Shell) -> None:
    (replay,) = steps("Replay a job's history")
    play_life(outputs, REPLAYED)
    shown = json.loads(shell.run(replay, INSTALLATION=str(INSTALLATION), JOB=str(REPLAYED)))
    stored = job(dynamodb, outputs, key_of(REPLAYED))
    assert stored is not None
    assert len(history(dynamodb, outputs, key_of(REPLAYED))) == len(LIFE)
    same = ("status", "conclusion", "created_at", "started_at", "completed_at", "usage_in_seconds", "runner_name")
    assert {name: shown[name] for name in same} == {name: stored[name] for name in same}
