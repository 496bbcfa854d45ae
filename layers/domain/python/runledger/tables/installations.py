"""The registry of installations and their repositories, which lives in workflow_jobs: who is asked about, by key."""

from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from runledger.reports import InstallationReport, InstallationStatus
from runledger.tables import schema
from runledger.tables.attributes import from_attributes, is_refusal, reaching, to_attributes
from runledger.tables.updates import update_if

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

REGISTRY = "installations"
REPOSITORIES = "repositories"
NOT_REGISTERED = "attribute_not_exists(PK)"
# An id is never given twice, so a deletion is the last word; else the later change is. GitHub writes the time of the
# suspension on both `suspend` and `unsuspend`: of two changes at the same time, the suspension was the first.
NEWS = "attribute_not_exists(#status) OR (#status <> :deleted AND #changed_at <= :changed_at)"
NEWS_OF_SUSPENSION = "attribute_not_exists(#status) OR (#status <> :deleted AND #changed_at < :changed_at)"
NEWS_OF_DELETION = "attribute_not_exists(#status) OR #status <> :deleted"
CONDITIONS = {
    InstallationStatus.SUSPENDED: NEWS_OF_SUSPENSION,
    InstallationStatus.DELETED: NEWS_OF_DELETION,
}


class InstallationsRegistry:
    """Remembers whom it has registered, so that a warm function writes each of them once."""

    def __init__(self, client: "DynamoDBClient", name: str) -> None:
        self._client = client
        self._name = name
        self._registered: set[tuple[int, str | None]] = set()

    def register(
        self, *, installation_id: int, org_name: str | None, repo_full_name: str | None, first_seen_at: str
    ) -> None:
        """Because a job of it was seen; what was reported of it stays."""
        seen = {"installation_id": installation_id, "first_seen_at": first_seen_at}
        if (installation_id, None) not in self._registered:
            self._put(_key(installation_id), seen | {"org_name": org_name})
            self._registered.add((installation_id, None))
        if repo_full_name and (installation_id, repo_full_name) not in self._registered:
            self._put(_repository_key(installation_id, repo_full_name), seen | {"repo_full_name": repo_full_name})
            self._registered.add((installation_id, repo_full_name))

    @reaching("installations")
    def _put(self, key: dict[str, str], values: dict[str, Any]) -> None:
        item = to_attributes(key | values)
        try:
            self._client.put_item(TableName=self._name, Item=item, ConditionExpression=NOT_REGISTERED)
        except ClientError as error:
            if not is_refusal(error):
                raise

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
            condition=CONDITIONS.get(report.status, NEWS),
            given={"deleted": InstallationStatus.DELETED},
        )

    def active(self) -> list[int]:
        """Suspended and deleted installations are not asked: GitHub would refuse."""
        return [
            each["installation_id"]
            for each in self.all()
            if each.get("status", InstallationStatus.ACTIVE) == InstallationStatus.ACTIVE
        ]

    def all(self) -> list[dict[str, Any]]:
        return self._registered_under(REGISTRY)

    def repositories(self, installation_id: int) -> list[str]:
        """Every repository of which a job was ever seen, in order of their names."""
        return [each["repo_full_name"] for each in self._registered_under(f"{REPOSITORIES}#{installation_id}")]

    @reaching("installations")
    def _registered_under(self, partition: str) -> list[dict[str, Any]]:
        pages = self._client.get_paginator("query").paginate(
            TableName=self._name,
            KeyConditionExpression="PK = :registry",
            ExpressionAttributeValues={":registry": {"S": partition}},
        )
        return [from_attributes(item) for page in pages for item in page["Items"]]


def _key(installation_id: int) -> dict[str, str]:
    return {schema.PARTITION: REGISTRY, schema.SORT: str(installation_id)}


def _repository_key(installation_id: int, repo_full_name: str) -> dict[str, str]:
    return {schema.PARTITION: f"{REPOSITORIES}#{installation_id}", schema.SORT: repo_full_name}
