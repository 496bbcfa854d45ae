"""releases: builds with their variants, events and artifacts, and the head of a package in each environment.

The variants of a build are sets on one item, so each is counted once, however often and in whatever order it
is reported.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from runledger.model import times
from runledger.model.errors import Contradiction
from runledger.model.packages import BuildKey, BuildStatus, VariantStatus
from runledger.tables import release_keys, schema
from runledger.tables.attributes import Attributes, from_attributes, to_attributes
from runledger.tables.pages import Key, Page, Partition, beginning_with
from runledger.tables.table import Table

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

    from runledger.tables.updates import Changes

COMPLETED, FAILED, TOTAL = "completed_variants", "failed_variants", "total_variants"
# A smaller total is ignored, and so is a larger one once the build is complete.
NEW_TOTAL = (
    "(attribute_not_exists(#total_variants) OR #total_variants = :total_variants "
    "OR (#total_variants < :total_variants AND attribute_not_exists(#completed_at)))"
)
NOT_COMPLETED = "NOT contains(#completed_variants, :variant)"
ALL_COMPLETED = "attribute_not_exists(#completed_at) AND size(#completed_variants) >= #total_variants"
OTHER_REPORT = "(attribute_not_exists(#report) OR #report <> :report)"
NOT_FINAL = "(attribute_not_exists(#status) OR #status <> :is_completed)"
# A completed variant may get artifacts later, but its fingerprints never change.
SAME_ARTIFACTS = f"({NOT_FINAL} OR #artifacts = :artifacts OR #artifacts = :no_artifacts)"
UNCHANGED, NEW = "#revision = :seen", "attribute_not_exists(#revision)"


class BuildsTable:
    def __init__(self, client: "DynamoDBClient", name: str, *, retention_days: int) -> None:
        self._table = Table(client, name, label="releases")
        self._retention_days = retention_days

    def record(
        self,
        build: BuildKey,
        variant: str,
        status: VariantStatus,
        *,
        total: int | None,
        at: str,
        about: Mapping[str, Any],
    ) -> dict[str, Any]:
        """Returns the build after the report, whether the report changed it or not."""
        put = {**about, "updated_at": at, schema.EXPIRY: self._expiry(at)}
        changes: Changes = {"put": put, "fill": {**build._asdict(), "created_at": at}, "returning": "ALL_NEW"}
        condition: list[str] = []
        if status is VariantStatus.COMPLETED:
            changes |= {"add": {COMPLETED: {variant}}, "discard": {FAILED: {variant}}}
        if status is VariantStatus.FAILED:
            changes |= {"add": {FAILED: {variant}}, "given": {"variant": variant}, "names": [COMPLETED]}
            condition.append(NOT_COMPLETED)
        if total is not None:
            names = [*changes.get("names", ()), "completed_at"]
            with_total: Changes = {
                **changes,
                "put": put | {TOTAL: total},
                "names": names,
                "condition": " AND ".join([*condition, NEW_TOTAL]),
            }
            recorded = self._table.update_if(_build_key(build), **with_total)
            if recorded is not None:
                return recorded
        if condition:
            changes["condition"] = condition[0]
        recorded = self._table.update_if(_build_key(build), **changes)
        if recorded is None and total is not None:
            # The variant is completed already, but the total must be stored.
            return self.record(build, variant, VariantStatus.STARTED, total=total, at=at, about={})
        return recorded if recorded is not None else self.get(build) or {}

    def complete(self, build: BuildKey, *, at: str, previous_version: str | None) -> None:
        """Does nothing unless all variants are completed, and nothing the second time."""
        put = {"completed_at": at, "status": BuildStatus.COMPLETED, "previous_version": previous_version}
        self._table.update_if(_build_key(build), put=put, names=[COMPLETED, TOTAL], condition=ALL_COMPLETED)

    def put_variant(self, build: BuildKey, variant: str, values: Mapping[str, Any], *, report: str, at: str) -> str:
        """Returns the time of the report. A repeated report keeps the time of its first arrival. `completed` is final.

        Raises Contradiction if the variant is completed with other artifacts.
        """
        key = _in_build(build, release_keys.variant_sort(variant))
        put = {**values, "variant": variant, "report": report, "reported_at": at, schema.EXPIRY: self._expiry(at)}
        is_completed = values["status"] == VariantStatus.COMPLETED
        changes: Changes = {
            "put": put,
            "remove": [each for each in ("message", "details") if values[each] is None],
            "condition": f"{OTHER_REPORT} AND {SAME_ARTIFACTS if is_completed else NOT_FINAL}",
            "given": {"is_completed": VariantStatus.COMPLETED, **({"no_artifacts": []} if is_completed else {})},
        }
        if self._table.update_if(key, **changes) is not None:
            return at
        stored = self._table.read(key) or {}
        if stored.get("report") == report:
            return str(stored["reported_at"])
        if is_completed and values["artifacts"]:
            raise Contradiction(f"Variant {variant} of {build.name} {build.version} is completed with other artifacts")
        return at

    def put_event(self, build: BuildKey, event_id: str, values: Mapping[str, Any], *, at: str) -> None:
        key = _in_build(build, release_keys.build_event_sort(at, event_id))
        item = {**key, **values, "event_id": event_id, "occurred_at": at, schema.EXPIRY: self._expiry(at)}
        self._table.put(to_attributes(item))

    def put_file(self, build: BuildKey, variant: str, artifact: Mapping[str, Any], *, at: str) -> None:
        installation_id, name, environment, version = build
        key = {
            schema.PARTITION: release_keys.file_key(installation_id, artifact["sha256"]),
            schema.SORT: release_keys.file_sort(name, environment, version, variant, artifact["name"]),
        }
        about = {"package": name, "environment": environment, "version": version, "variant": variant}
        item = {**key, **artifact, **about, "reported_at": at, schema.EXPIRY: self._expiry(at)}
        self._table.put(to_attributes(item))

    def get(self, build: BuildKey) -> dict[str, Any] | None:
        return self._table.read(_build_key(build))

    def page(
        self, installation_id: int, name: str, environment: str, *, limit: int, start: Key | None = None
    ) -> Page[Attributes]:
        """The highest versions first, in the order of their text."""
        partition = Partition(value=release_keys.builds_key(installation_id, name, environment))
        return self._table.page(partition, limit=limit, start=start)

    def variants(self, build: BuildKey, *, limit: int) -> list[dict[str, Any]]:
        partition, span = Partition(value=release_keys.build_key(*build)), beginning_with(release_keys.VARIANT)
        found = self._table.page(partition, span, newest_first=False, limit=limit).items
        return [from_attributes(item) for item in found]

    def events(self, build: BuildKey, *, limit: int) -> list[dict[str, Any]]:
        """Newest first."""
        partition, span = Partition(value=release_keys.build_key(*build)), beginning_with(release_keys.EVENT)
        return [from_attributes(item) for item in self._table.page(partition, span, limit=limit).items]

    def files(self, installation_id: int, sha256: str, *, limit: int, start: Key | None = None) -> Page[Attributes]:
        partition = Partition(value=release_keys.file_key(installation_id, sha256))
        return self._table.page(partition, newest_first=False, limit=limit, start=start)

    def head(self, installation_id: int, name: str, environment: str) -> dict[str, Any] | None:
        return self._table.read(_head_key(installation_id, name, environment))

    def heads(self, installation_id: int, name: str) -> list[dict[str, Any]]:
        partition = Partition(value=release_keys.package_heads_key(installation_id, name))
        return [from_attributes(item) for item in self._table.items(partition)]

    def register(self, build: BuildKey) -> None:
        """Lists the environment among the package's heads, from the first report on. The head has no version until a
        build is complete.
        """
        installation_id, name, environment, _ = build
        fill = {"installation_id": installation_id, "name": name, "environment": environment}
        self._table.update(_head_key(installation_id, name, environment), fill=fill)

    def save_head(self, build: BuildKey, values: Mapping[str, Any], *, seen: int | None) -> bool:
        """False if another process has changed the head since revision `seen`. It doesn't expire."""
        installation_id, name, environment, _ = build
        put = {"installation_id": installation_id, "name": name, "environment": environment, **values}
        return (
            self._table.update_if(
                _head_key(installation_id, name, environment),
                put=put | {"revision": (seen or 0) + 1},
                remove=[each for each, value in values.items() if value is None],
                condition=UNCHANGED if seen else NEW,
                given={"seen": seen} if seen else {},
            )
            is not None
        )

    def _expiry(self, at: str) -> int:
        return times.expiry(at, self._retention_days)


def _build_key(build: BuildKey) -> dict[str, str]:
    partition = release_keys.builds_key(build.installation_id, build.name, build.environment)
    return {schema.PARTITION: partition, schema.SORT: release_keys.key_part(build.version)}


def _in_build(build: BuildKey, sort: str) -> dict[str, str]:
    return {schema.PARTITION: release_keys.build_key(*build), schema.SORT: sort}


def _head_key(installation_id: int, name: str, environment: str) -> dict[str, str]:
    partition = release_keys.package_heads_key(installation_id, name)
    return {schema.PARTITION: partition, schema.SORT: release_keys.key_part(environment)}
