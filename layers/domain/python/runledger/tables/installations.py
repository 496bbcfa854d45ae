"""The registry of installations and their repositories, which lives in workflow_jobs: who is asked about, by key."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from runledger.model.reports import InstallationReport, InstallationStatus
from runledger.platform.availability import reaching
from runledger.tables import schema
from runledger.tables.attributes import from_attributes, to_attributes
from runledger.tables.updates import update, update_if, update_or_read

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

REGISTRY = "installations"
REPOSITORIES = "repositories"
WITHOUT_NAME = ""
SEEN_FIRST = "attribute_not_exists(#first_seen_at) OR #first_seen_at > :first_seen_at"
NEVER = "9999"  # sorts behind every instant
# The later change counts. GitHub writes the time of the suspension on both `suspend` and `unsuspend`: of two changes at
# the same time, the suspension was the first. A reported deletion is reversed only by a change after it, because GitHub
# sends nothing about a deleted installation. A deletion that GitHub confirmed is final: it never reuses an id.
REVERSES = "(#status = :deleted AND attribute_not_exists(#confirmed_at) AND #changed_at < :changed_at)"
DELETES = "attribute_not_exists(#status) OR (#status <> :deleted AND #changed_at <= :changed_at)"
SUSPENDS = f"attribute_not_exists(#status) OR (#status <> :deleted AND #changed_at < :changed_at) OR {REVERSES}"
ACTIVATES = f"{DELETES} OR {REVERSES}"
# The same report again changes nothing, and asks for no second confirmation.
IS_NEWS = "(attribute_not_exists(#status) OR #status <> :status OR #changed_at <> :changed_at)"
CONDITIONS = {
    InstallationStatus.ACTIVE: f"{IS_NEWS} AND ({ACTIVATES})",
    InstallationStatus.SUSPENDED: f"{IS_NEWS} AND ({SUSPENDS})",
    InstallationStatus.DELETED: f"{IS_NEWS} AND ({DELETES})",
}
AS_REPORTED = "#status = :reported AND #changed_at = :reported_change AND attribute_not_exists(#confirmed_at)"
# The SDK repeats a write whose answer was lost.
CONFIRMED_BY_US = "#status = :status AND #confirmed_at = :confirmed_at"
ENDED = {InstallationStatus.DELETED, InstallationStatus.SUSPENDED}


class InstallationsRegistry:
    """Remembers what it has registered, so that a warm function writes each once, and again only if it is older."""

    def __init__(self, client: "DynamoDBClient", name: str) -> None:
        self._client = client
        self._name = name
        self._registered: dict[tuple[int, str | None], str] = {}

    def register(
        self, *, installation_id: int, org_name: str | None, repo_full_name: str | None, first_seen_at: str
    ) -> None:
        """Because a job of it was seen; what was reported of it stays. A launcher may not know the organisation."""
        seen = {"installation_id": installation_id}
        with_org, without = (installation_id, None), (installation_id, WITHOUT_NAME)
        if not self._is_registered(first_seen_at, with_org, *(() if org_name else (without,))):
            self._register(_key(installation_id), seen | {"org_name": org_name}, first_seen_at)
            self._registered[with_org if org_name else without] = first_seen_at
        if repo_full_name and not self._is_registered(first_seen_at, (installation_id, repo_full_name)):
            key = _repository_key(installation_id, repo_full_name)
            self._register(key, seen | {"repo_full_name": repo_full_name}, first_seen_at)
            self._registered[installation_id, repo_full_name] = first_seen_at

    def _is_registered(self, first_seen_at: str, *keys: tuple[int, str | None]) -> bool:
        return any(self._registered.get(key, NEVER) <= first_seen_at for key in keys)

    @reaching("installations")
    def _register(self, key: dict[str, str], names: dict[str, Any], first_seen_at: str) -> None:
        """With the earliest time. The refusal of a later one returns the names that are stored."""
        put = {"first_seen_at": first_seen_at}
        _, stored = update_or_read(self._client, self._name, key, fill=names, put=put, condition=SEEN_FIRST)
        if stored and any(value and name not in stored for name, value in names.items()):
            update(self._client, self._name, key, fill=names)

    @reaching("installations")
    def absorb(self, report: InstallationReport) -> None:
        """A webhook's report: from here on unconfirmed."""
        update_if(
            self._client,
            self._name,
            _key(report.installation_id),
            put={
                "installation_id": report.installation_id,
                "org_name": report.org_name,
                "status": report.status,
                "changed_at": report.changed_at,
                "reported_at": report.reported_at,
                "repository_selection": report.repository_selection,
            },
            fill={"first_seen_at": report.reported_at},
            remove=("confirmed_at",),
            condition=CONDITIONS[report.status],
            given={"deleted": InstallationStatus.DELETED},
        )

    @reaching("installations")
    def confirm(self, reported: Mapping[str, Any], found: InstallationReport | None, *, at: str) -> bool:
        """Stores what GitHub answered, None for a deletion. False if the record is no longer as reported."""
        if found is None:
            actual: dict[str, Any] = {"status": InstallationStatus.DELETED}
        else:
            actual = {
                "status": found.status,
                "changed_at": found.changed_at,
                "org_name": found.org_name,
                "repository_selection": found.repository_selection,
            }
        confirmed = update_if(
            self._client,
            self._name,
            _key(reported["installation_id"]),
            put=actual | {"confirmed_at": at},
            names=("changed_at",),
            condition=f"({AS_REPORTED}) OR ({CONFIRMED_BY_US})",
            given={"reported": reported["status"], "reported_change": reported["changed_at"]},
        )
        return confirmed is not None

    def active(self, *, unconfirmed_too: bool = False) -> list[int]:
        """Suspended and deleted installations are left out: GitHub would refuse. A webhook may have been forged, so
        where GitHub can confirm it (`unconfirmed_too`), they are left out only once it has."""
        return [
            each["installation_id"]
            for each in self.all()
            if each.get("status") not in ENDED or (unconfirmed_too and "confirmed_at" not in each)
        ]

    def unconfirmed(self) -> list[dict[str, Any]]:
        """Reported as suspended or deleted, and GitHub has not been asked."""
        return [each for each in self.all() if each.get("status") in ENDED and "confirmed_at" not in each]

    def deleted(self) -> list[int]:
        """Those that GitHub confirms as deleted."""
        return [
            each["installation_id"]
            for each in self.all()
            if each.get("status") == InstallationStatus.DELETED and "confirmed_at" in each
        ]

    def all(self) -> list[dict[str, Any]]:
        return self._registered_under(REGISTRY)

    @reaching("installations")
    def account(self, installation_id: int) -> str | None:
        """None if no webhook has named it yet."""
        answer = self._client.get_item(TableName=self._name, Key=to_attributes(_key(installation_id)))
        return from_attributes(answer.get("Item", {})).get("org_name")

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
