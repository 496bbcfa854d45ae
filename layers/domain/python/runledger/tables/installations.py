"""The registry of installations, which lives in workflow_jobs: whom the reconciler asks about."""

from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from runledger.tables import schema
from runledger.tables.attributes import is_refusal, reaching, to_attributes

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

REGISTRY = "installations"
NOT_REGISTERED = "attribute_not_exists(PK)"


class InstallationsRegistry:
    """Remembers whom it has registered, so that a warm function writes each installation once."""

    def __init__(self, client: "DynamoDBClient", name: str) -> None:
        self._client = client
        self._name = name
        self._registered: set[int] = set()

    @reaching("installations")
    def register(self, *, installation_id: int, org_name: str | None, first_seen_at: str) -> None:
        if installation_id in self._registered:
            return
        values = {
            schema.PARTITION: REGISTRY,
            schema.SORT: str(installation_id),
            "installation_id": installation_id,
            "org_name": org_name,
            "first_seen_at": first_seen_at,
        }
        try:
            self._client.put_item(TableName=self._name, Item=to_attributes(values), ConditionExpression=NOT_REGISTERED)
        except ClientError as error:
            if not is_refusal(error):
                raise
        self._registered.add(installation_id)
