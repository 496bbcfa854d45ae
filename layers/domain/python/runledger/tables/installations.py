"""The registry of installations and their repositories, stored in workflow_jobs."""

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
WITHOUT_ORG = ""
SEEN_FIRST = "attribute_not_exists(#first_seen_at) OR #first_seen_at > :first_seen_at"
NEVER = "9999"  # sorts after every instant
# The latest change counts. `suspend` and `unsuspend` both contain the time of the suspension: of two changes with the
# same time, the suspension is the first. A reported deletion is reversed only by a change after it, because GitHub
# sends nothing about a deleted installation. A deletion that GitHub confirmed is final: it never reuses an id.
REACTIVATES = "(#status = :deleted AND attribute_not_exists(#confirmed_at) AND #changed_at < :changed_at)"
DELETES = "attribute_not_exists(#status) OR (#status <> :deleted AND #changed_at <= :changed_at)"
SUSPENDS = f"attribute_not_exists(#status) OR (#status <> :deleted AND #changed_at < :changed_at) OR {REACTIVATES}"
ACTIVATES = f"{DELETES} OR {REACTIVATES}"
# A repeated report changes nothing and needs no second confirmation.
IS_NEWS = "(attribute_not_exists(#status) OR #status <> :status OR #changed_at <> :changed_at)"
CONDITIONS = {
    InstallationStatus.ACTIVE: f"{IS_NEWS} AND ({ACTIVATES})",
    InstallationStatus.SUSPENDED: f"{IS_NEWS} AND ({SUSPENDS})",
    InstallationStatus.DELETED: f"{IS_NEWS} AND ({DELETES})",
}
AS_REPORTED = "#status = :reported AND #changed_at = :reported_change AND attribute_not_exists(#confirmed_at)"
# The SDK retries a write whose response was lost.
CONFIRMED_BY_US = "#status = :status AND #confirmed_at = :confirmed_at"
ENDED = {InstallationStatus.DELETED, InstallationStatus.SUSPENDED}


class InstallationsRegistry:
    """Caches what it has registered: a warm function writes each item once, and again only with an earlier time."""

    def __init__(self, client: "DynamoDBClient", name: str) -> None:
        self._client = client
        self._name = name
        self._registered: dict[tuple[int, str | None], str] = {}

    def register(
        self, *, installation_id: int, org_name: str | None, repo_full_name: str | None, first_seen_at: str
    ) -> None:
        """Registers the installation and repository of a job. Events of launchers may have no organisation."""
        seen = {"installation_id": installation_id}
        with_org, without = (installation_id, None), (installation_id, WITHOUT_ORG)
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
        """Stores the earliest time. If the stored time is earlier, missing names are added."""
        put = {"first_seen_at": first_seen_at}
        _, stored = update_or_read(self._client, self._name, key, fill=names, put=put, condition=SEEN_FIRST)
        if stored and any(value and name not in stored for name, value in names.items()):
            update(self._client, self._name, key, fill=names)

    @reaching("installations")
    def absorb(self, report: InstallationReport) -> None:
        """Stores the report of a webhook, as unconfirmed."""
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
        """Stores GitHub's response; None means deleted. False if the item has changed since it was reported."""
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
        """Excludes suspended and deleted installations: GitHub rejects their calls. A webhook may be forged: with
        `unconfirmed_too`, they are excluded only after GitHub has confirmed it."""
        return [
            item["installation_id"]
            for item in self.all()
            if item.get("status") not in ENDED or (unconfirmed_too and "confirmed_at" not in item)
        ]

    def unconfirmed(self) -> list[dict[str, Any]]:
        """Reported as suspended or deleted, and not yet confirmed by GitHub."""
        return [item for item in self.all() if item.get("status") in ENDED and "confirmed_at" not in item]

    def deleted(self) -> list[int]:
        """Installations whose deletion GitHub has confirmed."""
        return [
            item["installation_id"]
            for item in self.all()
            if item.get("status") == InstallationStatus.DELETED and "confirmed_at" in item
        ]

    def all(self) -> list[dict[str, Any]]:
        return self._registered_under(REGISTRY)

    @reaching("installations")
    def account(self, installation_id: int) -> str | None:
        """None if no webhook has named it yet."""
        answer = self._client.get_item(TableName=self._name, Key=to_attributes(_key(installation_id)))
        return from_attributes(answer.get("Item", {})).get("org_name")

    def repositories(self, installation_id: int) -> list[str]:
        """Every repository with a recorded job, sorted by name."""
        return [item["repo_full_name"] for item in self._registered_under(f"{REPOSITORIES}#{installation_id}")]

    @reaching("installations")
    def _registered_under(self, partition: str) -> list[dict[str, Any]]:
        pages = self._client.get_paginator("query").paginate(
            TableName=self._name,
            KeyConditionExpression="PK = :registry",
            ExpressionAttributeValues={":registry": {"S": partition}},
        )
        return [from_attributes(item) for page in pages for item in page["Items"]]


class KnownInstallations:
    """Caches the ids of registered installations; they are never unregistered."""

    def __init__(self, registry: InstallationsRegistry) -> None:
        self._registry = registry
        self._ids: frozenset[int] = frozenset()

    def ids(self) -> list[int]:
        self._ids = frozenset(item["installation_id"] for item in self._registry.all())
        return sorted(self._ids)

    def exists(self, installation_id: int) -> bool:
        return installation_id in self._ids or installation_id in self.ids()


def _key(installation_id: int) -> dict[str, str]:
    return {schema.PARTITION: REGISTRY, schema.SORT: str(installation_id)}


def _repository_key(installation_id: int, repo_full_name: str) -> dict[str, str]:
    return {schema.PARTITION: f"{REPOSITORIES}#{installation_id}", schema.SORT: repo_full_name}
