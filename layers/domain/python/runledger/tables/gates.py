"""Gates: one item in the deployments table for each environment of a run attempt.

Reviews and jobs are added with one write each, which returns the whole item: the second write returns the result of the
first. Each review is an attribute whose name is derived from its body: a replay of the same body adds nothing.
"""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from runledger.model import times
from runledger.model.gates import Gate
from runledger.model.keys import RunKey
from runledger.model.reports import Approval, GateJob, Review, Waiting
from runledger.tables import schema
from runledger.tables.pages import Partition
from runledger.tables.table import Table

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

GATE = "gate#"
REVIEW = "review_"
REVIEW_FIELDS = ("reviewed_at", "status", "reported_at", "delivery_id", "body_digest", "job_name")
LONGEST_ENVIRONMENT = 200  # a sort key has at most 1,024 bytes


class Gates:
    def __init__(self, client: "DynamoDBClient", name: str, *, retention_days: int) -> None:
        self._table = Table(client, name, label="deployments")
        self._retention_days = retention_days

    def join(self, waiting: Waiting) -> Gate:
        changed = self._table.update(
            _key(waiting),
            fill=self._expiry(waiting.at),
            add={"jobs": {job_text(waiting.job)}},
            returning="ALL_NEW",
        )
        return _gate(waiting, changed)

    def review(self, review: Review) -> Gate:
        changed = self._table.update(
            _key(review),
            put=self._expiry(review.reported_at),
            fill={f"{REVIEW}{review.body_id}": _review_text(review)},
            returning="ALL_NEW",
        )
        return _gate(review, changed)

    def exist(self, run: RunKey) -> bool:
        """Whether a job of the attempt needs or needed an environment: it joins a gate before it is saved."""
        items = self._table.items(Partition(value=schema.run_key(run)), consistent=True)
        return any(item[schema.SORT]["S"].startswith(GATE) for item in items)

    def _expiry(self, at: str) -> dict[str, int]:
        return {schema.EXPIRY: times.expiry(at, self._retention_days)}


def job_text(job: GateJob) -> str:
    return _text(job.job_id, job.deployment_id, job.created_at, job.job_name)


def job_from(text: str) -> GateJob:
    job_id, deployment_id, created_at, job_name = json.loads(text)
    return GateJob(job_id=job_id, deployment_id=deployment_id, created_at=created_at, job_name=job_name)


def _review_text(review: Review) -> str:
    digest = review.body_id if review.body_digest else None
    return _text(review.reviewed_at, review.status, review.reported_at, review.delivery_id, digest, review.job_name)


def _text(*values: object) -> str:
    return json.dumps(values, separators=(",", ":"))


def _key(source: Waiting | Review) -> dict[str, str]:
    return {
        schema.PARTITION: schema.run_key(source.run_key),
        schema.SORT: f"{GATE}{source.environment[:LONGEST_ENVIRONMENT]}",
    }


def _gate(source: Waiting | Review, item: Mapping[str, Any]) -> Gate:
    return Gate(
        jobs=tuple(map(job_from, sorted(item.get("jobs", ())))),
        reviews=tuple(_review(source, item[name]) for name in sorted(item) if name.startswith(REVIEW)),
    )


def _review(source: Waiting | Review, text: str) -> Review:
    values = dict(zip(REVIEW_FIELDS, json.loads(text), strict=True))
    return Review(
        installation_id=source.installation_id,
        run_id=source.run_id,
        run_attempt=source.run_attempt,
        environment=source.environment,
        repo_full_name=source.repo_full_name,
        **values | {"status": Approval(values["status"])},
    )
