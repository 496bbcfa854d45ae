"""Deleted tables come back, and the commands of the runbook that no test of the deployed app can run."""

import json
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import boto3
import pytest
from runledger.tables import schema

from local.aws import emulator
from recovery import tables
from tests.support.beds import create_tables, items, mocked
from tests.support.documents import section
from tests.support.shell import BLOCK, Shell, commands, has_tools
from tests.support.synthesis import Templates, of_type, synthesise

STACK = "runledger-lost-data"
JOBS = schema.WORKFLOW_JOBS.name
ITEM = {"PK": {"S": "1#2"}, "SK": {"S": "v"}, "job_id": {"N": "2"}, "ttl": {"N": "1800000000"}}
needs_tools = pytest.mark.skipif(not has_tools, reason="the documents use aws, jq, openssl and curl")


@pytest.fixture(scope="module")
def aws_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with emulator.running(tmp_path_factory.mktemp("recovery")) as url:
        yield url


@pytest.fixture
def client(aws_url: str) -> Iterator[Any]:
    dynamodb: Any = boto3.client("dynamodb", endpoint_url=aws_url)
    yield dynamodb
    dynamodb.close()


@pytest.fixture
def deployed(aws_url: str) -> Iterator[Mapping[str, tables.Properties]]:
    """The tables of a stack with every setting that a table has."""
    template = synthesise(point_in_time_recovery=True, streams=True)["data"]
    found = {name: each for name, each in template["Resources"].items() if each["Type"] == tables.TABLE}
    cloudformation: Any = boto3.client("cloudformation", endpoint_url=aws_url)
    cloudformation.create_stack(StackName=STACK, TemplateBody=json.dumps({"Resources": found}))
    yield tables.deployed(cloudformation, STACK)
    cloudformation.delete_stack(StackName=STACK)
    cloudformation.close()


def delete(client: Any, table: str) -> None:
    client.update_table(TableName=table, DeletionProtectionEnabled=False)
    client.delete_table(TableName=table)


@pytest.mark.server
def test_a_created_table_has_all_settings_of_the_deleted_one(
    client: Any, deployed: Mapping[str, tables.Properties]
) -> None:
    assert len(deployed) == len(schema.TABLES)
    for name, properties in deployed.items():
        delete(client, name)
        assert tables.create_missing(client, deployed) == [name]
        table = client.describe_table(TableName=name)["Table"]
        for setting in ("KeySchema", "AttributeDefinitions"):
            assert table[setting] == properties[setting]
        indexes = [(each["IndexName"], each["Projection"]) for each in properties.get("GlobalSecondaryIndexes", [])]
        assert [(each["IndexName"], each["Projection"]) for each in table.get("GlobalSecondaryIndexes", [])] == indexes
        assert table["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
        assert table["DeletionProtectionEnabled"] is True
        assert table["SSEDescription"]["SSEType"] == "KMS"
        assert table["StreamSpecification"] == {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
        expiry = client.describe_time_to_live(TableName=name)["TimeToLiveDescription"]
        assert (expiry["TimeToLiveStatus"], expiry["AttributeName"]) == ("ENABLED", "ttl")
        backups = client.describe_continuous_backups(TableName=name)["ContinuousBackupsDescription"]
        assert backups["PointInTimeRecoveryDescription"]["PointInTimeRecoveryStatus"] == "ENABLED"
        tags = client.list_tags_of_resource(ResourceArn=table["TableArn"])["Tags"]
        assert {tag["Key"]: tag["Value"] for tag in tags} == {"application": "runledger", "stage": "prod"}


@pytest.mark.server
def test_only_missing_tables_are_created(client: Any, deployed: Mapping[str, tables.Properties]) -> None:
    kept, lost, *_ = deployed
    client.put_item(TableName=kept, Item=ITEM)
    delete(client, lost)
    assert tables.create_missing(client, deployed) == [lost]
    assert tables.create_missing(client, deployed) == []
    assert len(items(client, kept)) == 1


def test_a_table_with_provisioned_capacity_is_created_with_it() -> None:
    template = synthesise(capacity="provisioned")["data"]
    for properties in of_type(template, tables.TABLE).values():
        found = tables.definition(properties)
        assert found["ProvisionedThroughput"] == {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}
        assert "StreamSpecification" not in found


def _definition(templates: Templates, table: str) -> dict[str, Any]:
    output = "".join(word.capitalize() for word in table.split("_")) + "Table"
    template = templates["data"]
    return tables.definition(template["Resources"][template["Outputs"][output]["Value"]["Ref"]]["Properties"])


def test_a_copy_keeps_items_that_exist(templates: Templates) -> None:
    with mocked(templates["data"]) as dynamodb:
        dynamodb.create_table(TableName="restored", **_definition(templates, JOBS))
        newer = ITEM | {"job_name": {"S": "newer"}}
        lost = ITEM | {"PK": {"S": "1#3"}}
        for item in (ITEM, lost):
            dynamodb.put_item(TableName="restored", Item=item)
        dynamodb.put_item(TableName=JOBS, Item=newer)
        assert tables.copy_missing(dynamodb, "restored", JOBS) == (1, 1)
        assert [(each["PK"], each.get("job_name")) for each in items(dynamodb, JOBS)] == [
            ("1#2", "newer"),
            ("1#3", None),
        ]


@needs_tools
@pytest.mark.server
def test_a_deleted_table_is_restored_under_its_name_with_its_settings(
    aws_url: str, client: Any, templates: Templates
) -> None:
    _, text = section("runbook.md", "Restore a lost table").split("### From the backup of a deleted table\n")
    create_tables(client, templates["data"])
    client.put_item(TableName=JOBS, Item=ITEM)
    before = items(client, JOBS)
    client.create_backup(TableName=JOBS, BackupName="as DynamoDB makes it when a table is deleted")
    client.delete_table(TableName=JOBS)
    # The emulator makes no backup by itself.
    replaced = (("$(output data WorkflowJobsTable)", JOBS), ("--backup-type SYSTEM", "--backup-type USER"))
    Shell(url=aws_url, replaced=replaced).run(*commands(text.partition("\n### ")[0]), STAGE="prod")
    assert items(client, JOBS) == before
    table = client.describe_table(TableName=JOBS)["Table"]
    assert {index["IndexName"] for index in table["GlobalSecondaryIndexes"]} == {
        index.name for index in schema.WORKFLOW_JOBS.indexes
    }
    assert table["DeletionProtectionEnabled"] is True
    assert client.describe_time_to_live(TableName=JOBS)["TimeToLiveDescription"]["AttributeName"] == "ttl"
    backups = client.describe_continuous_backups(TableName=JOBS)["ContinuousBackupsDescription"]
    assert backups["PointInTimeRecoveryDescription"]["PointInTimeRecoveryStatus"] == "ENABLED"
    tags = client.list_tags_of_resource(ResourceArn=table["TableArn"])["Tags"]
    assert {tag["Key"]: tag["Value"] for tag in tags} == {"application": "runledger", "stage": "prod"}


def test_a_restore_may_take_longer_than_one_wait(tmp_path: Path) -> None:
    """The waiter of the aws command gives up after 25 tries, 20 seconds apart."""
    waits = [each for each in commands(section("runbook.md", "Restore a lost table")) if "wait table-exists" in each]
    assert len(waits) == 2
    for number, wait in enumerate(waits):
        calls = tmp_path / str(number)
        aws = f'aws() {{ echo >> {calls}; [ "$(wc -l < {calls})" -eq 3 ]; }}'
        subprocess.run(["bash", "-ec", f"{aws}\n{wait}"], check=True)
        assert len(calls.read_text().splitlines()) == 3


def test_the_restored_table_is_not_deleted_in_the_same_block_as_the_copy() -> None:
    """A reader who pastes a block would delete it although the copy has failed."""
    text = section("runbook.md", "Restore a lost table")
    copying = [block for _, block in BLOCK.findall(text) if 'make recover ARGS="copy' in block]
    assert len(copying) == 1
    assert "delete-table" not in copying[0]


def test_a_changed_retention_reaches_every_function_and_replaces_no_table(templates: Templates) -> None:
    (deploy,) = commands(section("runbook.md", "Change the retention"))
    setting, value = re.findall(r"-c (\w+_retention_days)=(\d+)", deploy)[0]
    changed = synthesise(**{setting: int(value)})
    assert changed["data"] == templates["data"]
    days = [
        environment["Variables"]["JOB_EVENTS_RETENTION_DAYS"]
        for template in changed.values()
        for function in of_type(template, "AWS::Lambda::Function").values()
        if "JOB_EVENTS_RETENTION_DAYS" in (environment := function.get("Environment", {"Variables": {}}))["Variables"]
    ]
    assert set(days) == {value}
    assert len(days) >= 5


KEYS: dict[str, Any] = {
    "KeySchema": [{"AttributeName": "PK", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "PK", "AttributeType": "S"}],
    "BillingMode": "PAY_PER_REQUEST",
}
KINDS = {
    "data": (tables.TABLE, {"DeletionProtectionEnabled": True, **KEYS}),
    "events": ("AWS::SQS::Queue", {}),
    "api": ("AWS::SecretsManager::Secret", {"SecretString": "{}"}),
    "observability": ("AWS::SNS::Topic", {}),
}


@needs_tools
@pytest.mark.server
def test_the_commands_that_uninstall_leave_nothing(aws_url: str) -> None:
    """The commands run on small stacks of the same names, each with one retained resource."""
    text = section("runbook.md", "Remove a deployment")
    listing, unprotect, destroy, by_tags = commands(text.partition("### Use retained")[0])
    assert destroy == "cdk destroy --all -c stage=$STAGE"
    assert "resourcegroupstaggingapi" in by_tags
    cloudformation: Any = boto3.client("cloudformation", endpoint_url=aws_url)
    for stack, (kind, properties) in KINDS.items():
        resource = {"Type": kind, "DeletionPolicy": "Retain", "Properties": properties}
        cloudformation.create_stack(
            StackName=f"runledger-prod-{stack}",
            TemplateBody=json.dumps({"Resources": {"Kept": resource}}),
            EnableTerminationProtection=True,
        )
    shell = Shell(url=aws_url)
    retained = dict(line.split() for line in shell.run(listing, STAGE="prod").splitlines())
    assert retained.keys() == {kind for stack, (kind, _) in KINDS.items() if stack != "observability"}
    shell.run(unprotect, STAGE="prod")
    for stack in KINDS:
        cloudformation.delete_stack(StackName=f"runledger-prod-{stack}")
    cloudformation.close()
    deleting: list[str] = re.findall(r"`(aws [^`]+ …)`", text)
    assert [command.split()[2] for command in deleting] == [
        "update-table",
        "delete-table",
        "delete-secret",
        "delete-queue",
    ]
    for command in deleting:
        kind = next(kind for kind in retained if kind.split("::")[1].lower().removesuffix("smanager") in command)
        shell.run(command.replace("…", retained[kind]))
    secrets: Any = boto3.client("secretsmanager", endpoint_url=aws_url)
    assert "DeletedDate" in secrets.describe_secret(SecretId=retained["AWS::SecretsManager::Secret"])
    secrets.close()
    dynamodb: Any = boto3.client("dynamodb", endpoint_url=aws_url)
    sqs: Any = boto3.client("sqs", endpoint_url=aws_url)
    left = {*dynamodb.list_tables()["TableNames"], *sqs.list_queues().get("QueueUrls", [])}
    assert not left & {*retained.values()}
    dynamodb.close()
    sqs.close()
