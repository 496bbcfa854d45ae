"""What a user does with notifications of a deployment: subscriptions with receivers on this machine."""

import json
from contextlib import closing
from typing import Any

from local.aws import clients as aws
from local.aws.outputs import Outputs
from tests.e2e.api import call


def subscribe(outputs: Outputs, installation_id: int, url: str, *, types: list[str], **more: Any) -> dict[str, Any]:
    body = {"name": "a receiver", "kind": "webhook", "config": {"url": url}, "types": types, **more}
    response = call(outputs, f"/v1/installations/{installation_id}/subscriptions", method="POST", body=body)
    assert response.status == 201, response.body
    return dict(response.body)


def unsubscribe(outputs: Outputs, installation_id: int, subscription: dict[str, Any]) -> None:
    path = f"/v1/installations/{installation_id}/subscriptions/{subscription['subscription_id']}"
    assert call(outputs, path, method="DELETE").status == 200


def post(outputs: Outputs, path: str, body: object = None) -> dict[str, Any]:
    response = call(outputs, path, method="POST", body=body)
    assert response.status in (200, 202), response.body
    return dict(response.body)


def messages(outputs: Outputs, installation_id: int, **query: Any) -> list[dict[str, Any]]:
    response = call(outputs, f"/v1/installations/{installation_id}/messages", limit=200, **query)
    assert response.status == 200, response.body
    return list(response.body["items"])


def tick(outputs: Outputs) -> dict[str, int]:
    """Run the sweep, as the schedule does."""
    with closing(aws.client(outputs, "lambda")) as lambdas:
        response = lambdas.invoke(FunctionName=outputs.functions["notification_schedules"], Payload=b"{}")
        found = json.loads(response["Payload"].read())
    assert "FunctionError" not in response, found
    return dict(found)


def make_due(outputs: Outputs, installation_id: int, subscription_id: str, *, hour: int) -> None:
    """Change a subscription as if it had been scheduled for this hour since yesterday."""
    with closing(aws.client(outputs, "dynamodb")) as dynamodb:
        dynamodb.update_item(
            TableName=outputs.tables["notifications"],
            Key={"PK": {"S": f"{installation_id}#subscriptions"}, "SK": {"S": subscription_id}},
            UpdateExpression="SET schedule.#hour = :hour, schedule_since = :since",
            ExpressionAttributeNames={"#hour": "hour"},
            ExpressionAttributeValues={":hour": {"N": str(hour)}, ":since": {"S": "2025-01-01T00:00:00.000Z"}},
        )
