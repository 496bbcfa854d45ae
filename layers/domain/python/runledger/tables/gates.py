"""Gates, which live in deployments: where a review and the jobs that wait for it meet.

A review names a run and an environment, but no job and no deployment; a job names all four. So there is one item for
each environment of a run, and whoever comes second finds there what the first one left.
"""

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from runledger import times
from runledger.reports import Approval, Review, Waiting
from runledger.tables import schema
from runledger.tables.attributes import from_attributes, reaching, to_attributes
from runledger.tables.updates import advance, update

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

REVIEW = tuple(each.name for each in fields(Review))
LONGEST_ENVIRONMENT = 200  # a sort key has at most 1,024 bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """Who waits there, for which deployment, and the furthest word on it."""

    job_ids: tuple[int, ...] = ()
    deployment_id: int | None = None
    review: Review | None = None


class Gates:
    def __init__(self, client: "DynamoDBClient", name: str, *, retention_days: int) -> None:
        self._client = client
        self._name = name
        self._retention_days = retention_days

    @reaching("deployments")
    def join(self, waiting: Waiting) -> Gate:
        changed = update(
            self._client,
            self._name,
            _key(waiting),
            put={"deployment_id": waiting.deployment_id},
            fill=self._expiry(waiting.at),
            add={"job_ids": {waiting.job_id}},
            returning="ALL_NEW",
        )
        return _gate(changed)

    @reaching("deployments")
    def review(self, review: Review) -> Gate:
        """Leave it at the gate, unless a further one is there already."""
        key = _key(review)
        said = {name: getattr(review, name) for name in REVIEW} | self._expiry(review.reported_at)
        changed = advance(self._client, self._name, key, review.status, put=said, returning="ALL_NEW")
        if changed is None:
            answer = self._client.get_item(TableName=self._name, Key=to_attributes(key), ConsistentRead=True)
            changed = from_attributes(answer.get("Item", {}))
        return _gate(changed)

    def _expiry(self, at: str) -> dict[str, int]:
        return {schema.EXPIRY: times.expiry(at, self._retention_days)}


def _key(of: Waiting | Review) -> dict[str, str]:
    return {
        schema.PARTITION: f"{of.installation_id}#{of.run_id}#{of.run_attempt}",
        schema.SORT: f"gate#{of.environment[:LONGEST_ENVIRONMENT]}",
    }


def _gate(item: dict[str, Any]) -> Gate:
    said = {name: item[name] for name in REVIEW if name in item}
    return Gate(
        job_ids=tuple(sorted(item.get("job_ids", ()))),
        deployment_id=item.get("deployment_id"),
        review=Review(**said | {"status": Approval(said["status"])}) if "status" in said else None,
    )
