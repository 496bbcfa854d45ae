"""The registry of installations, which lives in workflow_jobs: whom the reconciler asks about."""

from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from runledger.reports import InstallationReport, InstallationStatus
from runledger.tables import schema
from runledger.tables.attributes import from_attributes, is_refusal, reaching, to_attributes
from runledger.tables.updates import update_if

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

REGISTRY = "installations"
NOT_REGISTERED = "attribute_not_exists(PK)"
# An id is never given twice, so a deletion is the last word; else the later change is.
NEWS = "attribute_not_exists(#status) OR (#status <> :deleted AND #changed_at <= :changed_at)"
NEWS_OF_DELETION = "attribute_not_exists(#status) OR #status <> :deleted"


class InstallationsRegistry:
    """Remembers whom it has registered, so that a warm function writes each installation once."""

    def __init__(self, client: "DynamoDBClient", name: str) -> None:
        self._client = client
        self._name = name
        self._registered: set[int] = set()

    @reaching("installations")
    def register(self, *, installation_id: int, org_name: str | None, first_seen_at: str) -> None:
        """Because a job of it was seen; what was reported of it stays."""
        if installation_id in self._registered:
            return
        values = _key(installation_id) | {
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

    @reaching("installations")
    def absorb(self, report: InstallationReport) -> None:
        update_if(
            self._client,
            self._name,
            _key(report.installation_id),
            put={
                "installation_id": report.installation_id,
                "org_name": report.org_name,
                "status": report.status,
                "changed_at": report.changed_at,
                "repository_selection": report.repository_selection,
            },
            fill={"first_seen_at": report.reported_at},
            condition=NEWS_OF_DELETION if report.status is InstallationStatus.DELETED else NEWS,
            given={"deleted": InstallationStatus.DELETED},
        )

    @reaching("installations")
    def active(self) -> list[int]:
        """Suspended and deleted installations are not asked: GitHub would refuse."""
        pages = self._client.get_paginator("query").paginate(
            TableName=self._name,
            KeyConditionExpression="PK = :registry",
            ExpressionAttributeValues={":registry": {"S": REGISTRY}},
        )
        found = [from_attributes(item) for page in pages for item in page["Items"]]
        return [each["installation_id"] for each in found if each.get("status", "active") == InstallationStatus.ACTIVE]


def _key(installation_id: int) -> dict[str, Any]:
    return {schema.PARTITION: REGISTRY, schema.SORT: str(installation_id)}
