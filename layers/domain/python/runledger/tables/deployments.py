"""deployments: a cache of approvals."""

from typing import TYPE_CHECKING, Any

from runledger.model import times
from runledger.model.reports import Approval, DeploymentReport
from runledger.platform.availability import reaching
from runledger.tables import schema
from runledger.tables.attributes import from_attributes, to_attributes
from runledger.tables.updates import advance, claim, update, update_if

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

DECIDED_AT = {Approval.APPROVED: "approved_at", Approval.REJECTED: "rejected_at"}
DECISIONS = tuple(DECIDED_AT.values())
# A review has precedence over the deployment's states. The first of two reviews counts; of two at the same time, the
# rejection.
REVIEWED = "attribute_exists(#approved_at) OR attribute_exists(#rejected_at)"
NOT_REVIEWED = "(attribute_not_exists(#approved_at) AND attribute_not_exists(#rejected_at))"
REPLACES = {
    Approval.APPROVED: f"{NOT_REVIEWED} OR #approved_at > :approved_at OR #rejected_at > :approved_at",
    Approval.REJECTED: f"{NOT_REVIEWED} OR #approved_at >= :rejected_at OR #rejected_at > :rejected_at",
}


class DeploymentsTable:
    def __init__(self, client: "DynamoDBClient", name: str, *, retention_days: int) -> None:
        self._client = client
        self._name = name
        self._retention_days = retention_days

    @reaching("deployments")
    def get(self, installation_id: int, deployment_id: int) -> dict[str, Any] | None:
        key = to_attributes(_key(installation_id, deployment_id))
        response = self._client.get_item(TableName=self._name, Key=key, ConsistentRead=True)
        return from_attributes(response["Item"]) if "Item" in response else None

    @reaching("deployments")
    def absorb(self, report: DeploymentReport) -> None:
        key = _key(report.installation_id, report.deployment_id)
        put: dict[str, Any] = {
            "installation_id": report.installation_id,
            "deployment_id": report.deployment_id,
            "repo_full_name": report.repo_full_name,
            "environment": report.environment,
        }
        fill: dict[str, Any] = {}
        if report.created_at:
            put["created_at"] = report.created_at
        else:
            fill["created_at"] = report.job_created_at or report.reported_at
        # Once required, always required: reports may omit it.
        (put if report.requires_approval else fill)["requires_approval"] = bool(report.requires_approval)
        add = {"job_ids": {report.job_id} if report.job_id is not None else None}
        expiry = {schema.EXPIRY: times.expiry(report.reported_at, self._retention_days)}
        if report.status is None:
            # A redelivered job must not change anything, including the expiry.
            fill |= expiry
            update(self._client, self._name, key, put=put, fill=fill | {"status": Approval.PENDING}, add=add)
            return
        put |= expiry | {"checked_at": report.reported_at}
        if not self._decide(report, key, put=put, fill=fill, add=add):
            update(self._client, self._name, key, put=put, fill=fill, add=add)

    def _decide(self, report: DeploymentReport, key: dict[str, str], *, put: dict[str, Any], **about: Any) -> bool:
        """False, without any change, if the stored decision has precedence."""
        assert report.status is not None
        if report.status not in DECIDED_AT or report.reviewed_at is None:
            changed = advance(
                self._client, self._name, key, report.status, put=put, unless=REVIEWED, names=DECISIONS, **about
            )
            return changed is not None
        changed = update_if(
            self._client,
            self._name,
            key,
            put=put | {"status": report.status, DECIDED_AT[report.status]: report.reviewed_at},
            remove=[name for status, name in DECIDED_AT.items() if status is not report.status],
            condition=REPLACES[report.status],
            **about,
        )
        return changed is not None

    @reaching("deployments")
    def claim(self, installation_id: int, deployment_id: int, *, at: str, until: str) -> bool:
        return claim(
            self._client,
            self._name,
            _key(installation_id, deployment_id),
            at=at,
            until=until,
            expiry=times.expiry(at, self._retention_days),
        )

    @reaching("deployments")
    def note_checked(self, installation_id: int, deployment_id: int, *, at: str) -> None:
        """Caches that GitHub has no such deployment."""
        update(self._client, self._name, _key(installation_id, deployment_id), put={"checked_at": at})


def _key(installation_id: int, deployment_id: int) -> dict[str, str]:
    return {schema.PARTITION: schema.deployment_key(installation_id, deployment_id), schema.SORT: schema.ONLY}
