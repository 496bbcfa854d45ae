"""Reads items of the deployed tables."""

from typing import TYPE_CHECKING, Any

from runledger.tables.attributes import from_attributes

from local.aws.outputs import Outputs

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


def job(dynamodb: "DynamoDBClient", outputs: Outputs, key: str) -> dict[str, Any] | None:
    found = dynamodb.get_item(
        TableName=outputs.tables["workflow_jobs"], Key={"PK": {"S": key}, "SK": {"S": "v"}}, ConsistentRead=True
    )
    return from_attributes(found["Item"]) if "Item" in found else None


def history(dynamodb: "DynamoDBClient", outputs: Outputs, key: str) -> list[dict[str, Any]]:
    found = dynamodb.query(
        TableName=outputs.tables["workflow_job_events"],
        KeyConditionExpression="PK = :key",
        ExpressionAttributeValues={":key": {"S": key}},
        ConsistentRead=True,
    )
    return [from_attributes(item) for item in found["Items"]]
