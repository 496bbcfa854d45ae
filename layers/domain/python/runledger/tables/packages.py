"""releases: packages, the edges between them, and their versions.

An edge is written before the package that names it, and deleted after it. So an edge may exist without a dependency,
and readers ignore it, but every dependency has an edge.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from itertools import islice
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from runledger.model.errors import ContendedError
from runledger.model.packages import Package
from runledger.tables import release_keys, schema
from runledger.tables.attributes import Attributes, from_attributes, is_condition_failure, to_attributes
from runledger.tables.pages import Key, Page, Partition
from runledger.tables.table import ItemKey, Table

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

TRIES = 10
UNCHANGED = "#revision = :seen"
NEW = "attribute_not_exists(#revision)"
# A pointer that a later revision of the package wrote is kept.
NOT_LATER = "(attribute_not_exists(#revision) OR #revision <= :revision)"
STILL_LATEST, FIRST = "#version = :seen", "attribute_not_exists(#version)"


class PackagesTable:
    def __init__(self, client: "DynamoDBClient", name: str) -> None:
        self._table = Table(client, name, label="releases")

    def get(self, installation_id: int, name: str) -> dict[str, Any] | None:
        return self._table.read(_package_key(installation_id, name))

    def many(self, installation_id: int, names: Iterable[str]) -> dict[str, dict[str, Any]]:
        """By name. Missing packages are omitted."""
        partition = release_keys.packages_key(installation_id)
        keys = ((partition, release_keys.key_part(name)) for name in names)
        found = self._table.by_key(keys, consistent=True)
        return {item["name"]["S"]: from_attributes(item) for item in found.values()}

    def page(self, installation_id: int, *, limit: int, start: Key | None = None) -> Page[Attributes]:
        partition = Partition(value=release_keys.packages_key(installation_id))
        return self._table.page(partition, newest_first=False, limit=limit, start=start)

    def save(self, package: Package, *, at: str) -> dict[str, Any]:
        """Replaces metadata and dependencies, and keeps the latest version. Safe to repeat after a crash."""
        for _ in range(TRIES):
            stored = self.get(package.installation_id, package.name) or {}
            saved = self.replace(package, stored, at=at)
            if saved is not None:
                return saved
        raise ContendedError(f"package {package.name} is being changed by another process: try again")

    def create(self, package: Package, *, at: str) -> None:
        """Does nothing if the package exists."""
        if self.get(package.installation_id, package.name) is None:
            self.replace(package, {}, at=at)

    def replace(self, package: Package, stored: Mapping[str, Any], *, at: str) -> dict[str, Any] | None:
        """None if another process has changed the package since `stored` was read."""
        installation_id, name, seen = package.installation_id, package.name, stored.get("revision")
        revision, wanted = (seen or 0) + 1, package.dependencies
        known = stored.get("dependencies", {})
        for dependency, accepted in wanted.items():
            if known.get(dependency) == accepted:
                continue  # its edge was written before the stored package
            self._point(_edge_key(installation_id, dependency, name), {"name": name, "range": accepted}, revision)
        repositories = {package.repo_full_name, *stored.get("repositories", ())}
        self._point(_repository_key(installation_id, package.repo_full_name, name), {"name": name}, revision)
        values = asdict(package) | {"dependencies": dict(wanted), "metadata": dict(package.metadata)}
        edges = sorted({*wanted, *stored.get("edges", ())})
        saved = self._table.update_if(
            _package_key(installation_id, name),
            put=values | {"edges": edges, "repositories": sorted(repositories), "revision": revision, "updated_at": at},
            fill={"created_at": at},
            remove=[each for each, value in values.items() if value is None],
            condition=UNCHANGED if seen else NEW,
            given={"seen": seen} if seen else {},
            returning="ALL_NEW",
        )
        if saved is not None:
            self._drop(package, revision, edges, repositories)
        return saved

    def _drop(self, package: Package, revision: int, edges: Iterable[str], repositories: Iterable[str]) -> None:
        """Deletes pointers of earlier revisions. The package lists them until all are deleted."""
        installation_id, name = package.installation_id, package.name
        former = [each for each in edges if each not in package.dependencies]
        moved = [each for each in repositories if each != package.repo_full_name]
        for dependency in former:
            self._delete_pointer(_edge_key(installation_id, dependency, name), revision)
        for repository in moved:
            self._delete_pointer(_repository_key(installation_id, repository, name), revision)
        if former or moved:
            left = {"edges": sorted(package.dependencies), "repositories": [package.repo_full_name]}
            key, given = _package_key(installation_id, name), {"seen": revision}
            self._table.update_if(key, put=left, names=["revision"], condition=UNCHANGED, given=given)

    def _point(self, key: ItemKey, values: Mapping[str, Any], revision: int) -> None:
        self._table.update_if(key, put={**values, "revision": revision}, condition=NOT_LATER)

    def _delete_pointer(self, key: ItemKey, revision: int) -> None:
        try:
            self._table.delete(
                key,
                ConditionExpression=NOT_LATER,
                ExpressionAttributeNames={"#revision": "revision"},
                ExpressionAttributeValues=to_attributes({":revision": revision}),
            )
        except ClientError as error:
            if not is_condition_failure(error):
                raise

    def dependents(self, installation_id: int, name: str, *, limit: int | None = None) -> list[str]:
        """Names of packages that depend on it, or did: compare them with the packages' dependencies."""
        partition = Partition(value=release_keys.dependents_key(installation_id, name))
        return [item["name"]["S"] for item in islice(self._table.items(partition, consistent=True), limit)]

    def edges(self, installation_id: int, name: str, *, limit: int) -> list[dict[str, str]]:
        """Name and range of dependents. A process that died may have left an edge without a dependency."""
        partition = Partition(value=release_keys.dependents_key(installation_id, name))
        listed = [item["name"]["S"] for item in self._table.page(partition, newest_first=False, limit=limit).items]
        packages = self.many(installation_id, listed)
        return [
            {"name": each, "range": packages[each]["dependencies"][name]}
            for each in listed
            if each in packages and name in packages[each]["dependencies"]
        ]

    def of_repository(self, installation_id: int, repo_full_name: str) -> list[str]:
        """Names of its packages. May include packages that have moved to another repository."""
        partition = Partition(value=release_keys.repository_packages_key(installation_id, repo_full_name))
        return [item["name"]["S"] for item in self._table.items(partition, consistent=True)]

    def set_latest(self, installation_id: int, name: str, *, latest: Mapping[str, Any], seen: str | None) -> bool:
        """`version` and `published_at`. False if the latest version is no longer `seen`."""
        condition, given = (STILL_LATEST, {"seen": seen}) if seen else (FIRST, {})
        key = _package_key(installation_id, name)
        return self._table.update_if(key, put=latest, condition=condition, given=given) is not None

    def claim_version(self, version: Mapping[str, Any]) -> tuple[bool, dict[str, Any]]:
        """Whether the version is new, and the stored version: each version is published once."""
        key = _version_key(version["installation_id"], version["name"], version["version"])
        if self._table.put_if_absent({**key, **version}):
            return True, dict(version)
        return False, self._table.read(key) or dict(version)

    def note_line(self, installation_id: int, name: str, version: str) -> None:
        """Notes that the version has had a release line, which expires."""
        key = _version_key(installation_id, name, version)
        self._table.update_if(key, put={"has_line": True}, names=["version"], condition="attribute_exists(#version)")

    def version(self, installation_id: int, name: str, version: str) -> dict[str, Any] | None:
        return self._table.read(_version_key(installation_id, name, version))

    def versions(self, installation_id: int, name: str) -> list[dict[str, Any]]:
        """All versions, in text order."""
        partition = Partition(value=release_keys.versions_key(installation_id, name))
        return [from_attributes(item) for item in self._table.items(partition)]


def _package_key(installation_id: int, name: str) -> dict[str, str]:
    return {schema.PARTITION: release_keys.packages_key(installation_id), schema.SORT: release_keys.key_part(name)}


def _repository_key(installation_id: int, repo_full_name: str, name: str) -> dict[str, str]:
    partition = release_keys.repository_packages_key(installation_id, repo_full_name)
    return {schema.PARTITION: partition, schema.SORT: release_keys.key_part(name)}


def _edge_key(installation_id: int, dependency: str, name: str) -> dict[str, str]:
    return {
        schema.PARTITION: release_keys.dependents_key(installation_id, dependency),
        schema.SORT: release_keys.key_part(name),
    }


def _version_key(installation_id: int, name: str, version: str) -> dict[str, str]:
    return {
        schema.PARTITION: release_keys.versions_key(installation_id, name),
        schema.SORT: release_keys.key_part(version),
    }
