"""The schema of the original estimate: its tables, whose indexes project all attributes, and its calls.

It gets the same webhooks and launcher events, and stores the attributes that the schema lists. The keys of its indexes
are separate attributes, so its item exceeds 1 KB one step earlier: with `created_at` as the sort key of its indexes, a
typical job would take 27 write units instead of 32.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from runledger.model import times
from runledger.tables.attributes import from_attributes, to_attributes

from bench.canned_responses import ON_DEMAND_PRICE

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

    from bench.lives import Life

JOBS, EVENTS = "literal_workflow_jobs", "literal_workflow_job_events"
INDEXES = ("GSI1", "GSI2", "GSI3")
RECEIVED = {"queued": 1, "scheduled": 60, "in_progress": 151, "completed": 766}
FACTS_OF = {
    "in_progress": ("started_at", "runner_id", "runner_name", "runner_group_id"),
    "completed": ("completed_at", "conclusion"),
}


def create_tables(client: DynamoDBClient) -> None:
    keys: list[Any] = [{"AttributeName": "PK", "KeyType": "HASH"}, {"AttributeName": "SK", "KeyType": "RANGE"}]
    keys_and_indexes = ["PK", "SK", *(f"{index}-{key}" for index in INDEXES for key in ("PK", "SK"))]
    attributes: list[Any] = [{"AttributeName": name, "AttributeType": "S"} for name in keys_and_indexes]
    client.create_table(
        TableName=JOBS,
        KeySchema=keys,
        AttributeDefinitions=attributes,
        BillingMode="PAY_PER_REQUEST",
        GlobalSecondaryIndexes=[
            {
                "IndexName": index,
                "KeySchema": [
                    {"AttributeName": f"{index}-PK", "KeyType": "HASH"},
                    {"AttributeName": f"{index}-SK", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "ALL"},
            }
            for index in INDEXES
        ],
    )
    client.create_table(
        TableName=EVENTS, KeySchema=keys, AttributeDefinitions=attributes[:2], BillingMode="PAY_PER_REQUEST"
    )


@dataclass(frozen=True, slots=True)
class OriginalSchema:
    client: Any

    def play(self, life: Life) -> None:
        """Queued, scheduled, in progress, completed: three reads and eight writes."""
        self._get(life)
        job = _queued(life)
        self.client.put_item(TableName=JOBS, Item=to_attributes(job), ConditionExpression="attribute_not_exists(PK)")
        self._put_event(life, "webhook_queued", "queued", changes=None)
        self._change(life, "runner_scheduled", "scheduled", before=job, after=_scheduled(life))
        for step in ("in_progress", "completed"):
            stored = from_attributes(self._get(life)["Item"])
            self._change(life, f"webhook_{step}", step, before=stored, after=_webhook(life, step))

    def _get(self, life: Life) -> Any:
        return self.client.get_item(TableName=JOBS, Key=to_attributes(_key(life)))

    def _change(
        self, life: Life, event_type: str, status: str, *, before: dict[str, Any], after: dict[str, Any]
    ) -> None:
        after |= _metadata(status)
        put = after | {"GSI1-PK": f"{life.installation_id}#{status}"}
        self.client.update_item(
            TableName=JOBS,
            Key=to_attributes(_key(life)),
            UpdateExpression="SET " + ", ".join(f"#{number} = :{number}" for number in range(len(put))),
            ExpressionAttributeNames={f"#{number}": name for number, name in enumerate(put)},
            ExpressionAttributeValues=to_attributes({f":{n}": value for n, value in enumerate(put.values())}),
        )
        changes = {name: {"from": before.get(name), "to": value} for name, value in after.items()}
        self._put_event(life, event_type, status, changes=changes)

    def _put_event(self, life: Life, event_type: str, status: str, *, changes: dict[str, Any] | None) -> None:
        at = _at(status)
        webhook = event_type.startswith("webhook_")
        event = {
            "PK": _key(life)["PK"],
            "SK": f"{at}#{event_type}",
            "installation_id": life.installation_id,
            "job_id": life.job_id,
            "event_type": event_type,
            "timestamp": at,
            "status": status,
            "action": status if webhook else None,
            "changes": changes,
            "source": "github_webhook" if webhook else "internal",
            "received_by": "an-instance",
            "ttl": times.expiry(at, 14),
        }
        self.client.put_item(TableName=EVENTS, Item=to_attributes(event))


def _queued(life: Life) -> dict[str, Any]:
    message = life.message("queued")
    job, repository = message["workflow_job"], message["repository"]
    scope, attempt, created_at = life.installation_id, job.get("run_attempt", 1), times.normalised(job["created_at"])
    return {
        **_key(life),
        "installation_id": scope,
        "job_id": life.job_id,
        "run_id": life.run_id,
        "run_attempt": attempt,
        "org_name": repository["owner"]["login"],
        "repo_full_name": repository["full_name"],
        "repo_is_private": repository["private"],
        "workflow_name": job.get("workflow_name"),
        "job_name": job["name"],
        "head_sha": job["head_sha"],
        "default_branch": repository["default_branch"],
        "job_html_url": job["html_url"],
        "created_at": created_at,
        "received_at": _at("queued"),
        "was_interrupted": False,
        "labels": job["labels"],
        "custom_properties": repository.get("custom_properties"),
        **_metadata("queued"),
        "GSI1-PK": f"{scope}#queued",
        "GSI2-PK": f"{scope}#{repository['full_name']}",
        "GSI3-PK": f"{scope}#{life.run_id}#{attempt}",
        **{f"{index}-SK": created_at for index in INDEXES},
    }


def _scheduled(life: Life) -> dict[str, Any]:
    detail = life.launcher()["detail"]
    names = ("instance_type", "instance_lifecycle", "fleet_id", "pool_name")
    return {
        **{name: detail[name] for name in names},
        "instance_id": life.instance_id,
        "scheduled_at": _at("scheduled"),
        "internal_queue_duration_in_ms": 59_000,
    }


def _webhook(life: Life, step: str) -> dict[str, Any]:
    job = life.message(step)["workflow_job"]
    known = {name: job[name] for name in FACTS_OF[step]}
    computed = (
        {"overall_queue_duration_in_ms": 150_000}
        if step == "in_progress"
        else {"usage_in_seconds": 615, "usage_in_dollars": Decimal(ON_DEMAND_PRICE)}
    )
    return known | computed


def _metadata(status: str) -> dict[str, Any]:
    return {"status": status, "last_updated_at": _at(status), "ttl": times.expiry(_at(status), 90)}


def _key(life: Life) -> dict[str, str]:
    return {"PK": f"{life.installation_id}#{life.job_id}", "SK": "v"}


def _at(status: str) -> str:
    seconds = RECEIVED[status]
    return f"2025-01-15T10:{seconds // 60:02}:{seconds % 60:02}.123Z"
