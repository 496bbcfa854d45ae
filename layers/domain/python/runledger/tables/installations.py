"""The registry of installations and their repositories, stored in workflow_jobs."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from runledger.model.reports import NO_INSTALLATION, InstallationReport, InstallationStatus
from runledger.model.times import NEVER
from runledger.tables import schema
from runledger.tables.attributes import from_attributes
from runledger.tables.pages import Partition
from runledger.tables.table import Table

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

REPOSITORIES = "repositories"
WITHOUT_ORG = ""
SEEN_FIRST = "attribute_not_exists(#first_seen_at) OR #first_seen_at > :first_seen_at"
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
# A name is changed only if it is still the name that was read.
HAS_NO_NAME = "attribute_not_exists(#org_name)"
NAME_UNCHANGED = "#org_name = :former"
ENDED = {InstallationStatus.DELETED, InstallationStatus.SUSPENDED}


class InstallationsRegistry:
    """Caches what it has registered: a warm function writes an item again only with an earlier time."""

    def __init__(self, client: "DynamoDBClient", name: str) -> None:
        self._table = Table(client, name, label="installations")
        self._registered: dict[tuple[int, str | None], str] = {}
        self._names: dict[int, str] = {}

    def register(
        self,
        *,
        installation_id: int,
        org_name: str | None,
        repo_full_name: str | None,
        first_seen_at: str,
        named_at: str | None = None,
    ) -> None:
        """Registers the installation and repository of a job. Launcher events may have no organisation.

        `named_at` is when GitHub named the organisation. A newer name replaces the stored one.
        """
        seen = {"installation_id": installation_id}
        with_org, without = (installation_id, None), (installation_id, WITHOUT_ORG)
        if not self._is_registered(first_seen_at, with_org, *(() if org_name else (without,))):
            stored = self._register(_key(installation_id), seen | {"org_name": org_name}, first_seen_at)
            self._registered[with_org if org_name else without] = first_seen_at
            if known := stored.get("org_name") or org_name:
                self._names[installation_id] = known
        if org_name and named_at and self._names.get(installation_id) != org_name:
            self._names[installation_id] = self.rename(installation_id, org_name, at=named_at)
        if repo_full_name and not self._is_registered(first_seen_at, (installation_id, repo_full_name)):
            key = _repository_key(installation_id, repo_full_name)
            self._register(key, seen | {"repo_full_name": repo_full_name}, first_seen_at)
            self._registered[installation_id, repo_full_name] = first_seen_at

    def _is_registered(self, first_seen_at: str, *keys: tuple[int, str | None]) -> bool:
        return any(self._registered.get(key, NEVER) <= first_seen_at for key in keys)

    def _register(self, key: dict[str, str], names: dict[str, Any], first_seen_at: str) -> dict[str, Any]:
        """Stores the earliest time. If the stored time is earlier, adds missing names and returns the stored item."""
        put = {"first_seen_at": first_seen_at}
        _, stored = self._table.update_or_read(key, fill=names, put=put, condition=SEEN_FIRST)
        if stored and any(value and name not in stored for name, value in names.items()):
            self._table.update(key, fill=names)
        return stored

    def rename(self, installation_id: int, org_name: str, *, at: str) -> str:
        """Stores the newest name of the account, and keeps the former ones: another account may take them.

        Returns the newest name. Hooks without an App have many accounts, so their name is never changed.
        """
        while installation_id != NO_INSTALLATION:
            stored = self._read(installation_id, consistent=True)
            former = stored.get("org_name")
            if former and (former == org_name or stored.get("named_at", "") >= at):
                return str(former)
            renamed = self._table.update_if(
                _key(installation_id),
                put={"org_name": org_name, "named_at": at},
                add={"former_names": {former}} if former else {},
                condition=NAME_UNCHANGED if former else HAS_NO_NAME,
                given={"former": former} if former else {},
            )
            if renamed is not None:
                break
        return org_name

    def absorb(self, report: InstallationReport) -> None:
        """Stores the report of a webhook, as unconfirmed."""
        _, stored = self._table.update_or_read(
            _key(report.installation_id),
            put={
                "installation_id": report.installation_id,
                "status": report.status,
                "changed_at": report.changed_at,
                "reported_at": report.reported_at,
                "repository_selection": report.repository_selection,
            },
            fill={"first_seen_at": report.reported_at, "org_name": report.org_name},
            remove=("confirmed_at",),
            condition=CONDITIONS[report.status],
            given={"deleted": InstallationStatus.DELETED},
            returning="ALL_NEW",
        )
        if report.org_name and stored.get("org_name", report.org_name) != report.org_name:
            self.rename(report.installation_id, report.org_name, at=report.changed_at)

    def confirm(self, reported: Mapping[str, Any], found: InstallationReport | None, *, at: str) -> bool:
        """Stores GitHub's response; None means deleted. False if the item has changed since it was reported."""
        if found is None:
            actual: dict[str, Any] = {"status": InstallationStatus.DELETED}
        else:
            actual = {
                "status": found.status,
                "changed_at": found.changed_at,
                "repository_selection": found.repository_selection,
            }
            if found.org_name:
                self.rename(reported["installation_id"], found.org_name, at=at)
        confirmed = self._table.update_if(
            _key(reported["installation_id"]),
            put=actual | {"confirmed_at": at},
            names=("changed_at",),
            condition=f"({AS_REPORTED}) OR ({CONFIRMED_BY_US})",
            given={"reported": reported["status"], "reported_change": reported["changed_at"]},
        )
        return confirmed is not None

    def active(self, *, unconfirmed_too: bool = False) -> list[int]:
        """Excludes suspended and deleted installations, for which GitHub refuses calls. A webhook may be forged: with
        `unconfirmed_too`, an installation is excluded only after GitHub has confirmed the report."""
        return [
            item["installation_id"]
            for item in self.all()
            if item.get("status") not in ENDED or (unconfirmed_too and "confirmed_at" not in item)
        ]

    def unconfirmed(self) -> list[dict[str, Any]]:
        """Installations that were reported as suspended or deleted, and that GitHub hasn't confirmed yet."""
        return [item for item in self.all() if item.get("status") in ENDED and "confirmed_at" not in item]

    def deleted(self) -> list[int]:
        """Installations whose deletion GitHub has confirmed."""
        return [
            item["installation_id"]
            for item in self.all()
            if item.get("status") == InstallationStatus.DELETED and "confirmed_at" in item
        ]

    def all(self) -> list[dict[str, Any]]:
        return self._registered_under(schema.REGISTRY)

    def account(self, installation_id: int) -> str | None:
        """The name of its account. None if no webhook has named it yet."""
        return self._read(installation_id).get("org_name")

    def named(self, account: str) -> list[int]:
        """Installations whose account has, or once had, this name in lower case."""
        return [
            item["installation_id"]
            for item in self.all()
            if account in {name.lower() for name in (item.get("org_name", ""), *item.get("former_names", ()))}
        ]

    def repositories(self, installation_id: int) -> list[str]:
        """Every repository with a recorded job, sorted by name."""
        return [item["repo_full_name"] for item in self._registered_under(f"{REPOSITORIES}#{installation_id}")]

    def _read(self, installation_id: int, *, consistent: bool = False) -> dict[str, Any]:
        return self._table.read(_key(installation_id), consistent=consistent) or {}

    def _registered_under(self, partition: str) -> list[dict[str, Any]]:
        return list(map(from_attributes, self._table.items(Partition(value=partition))))


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
    return {schema.PARTITION: schema.REGISTRY, schema.SORT: str(installation_id)}


def _repository_key(installation_id: int, repo_full_name: str) -> dict[str, str]:
    return {schema.PARTITION: f"{REPOSITORIES}#{installation_id}", schema.SORT: repo_full_name}
