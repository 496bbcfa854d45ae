"""deployments: deployments, and the decision on those that need an approval."""

from typing import TYPE_CHECKING, Any

from runledger.model import times
from runledger.model.keys import DeploymentKey
from runledger.model.reports import Approval, DeploymentReport
from runledger.tables import schema
from runledger.tables.table import Table

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

FACTS = ("environment", "head_sha", "ref", "creator", "run_id", "is_production", "version")
STATE_TIMES = ("succeeded_at", "failed_at", "inactive_at")
DECIDED_AT = {Approval.APPROVED: "approved_at", Approval.REJECTED: "rejected_at"}
DECISIONS = tuple(DECIDED_AT.values())
# Set if the decision and its time come from the deployment's states, not from a review.
INFERRED = "decision_inferred"
# A review has precedence over the deployment's states.
REVIEWED = f"(attribute_exists(#approved_at) OR attribute_exists(#rejected_at)) AND attribute_not_exists(#{INFERRED})"
NOT_REVIEWED = (
    f"(attribute_not_exists(#approved_at) AND attribute_not_exists(#rejected_at)) OR attribute_exists(#{INFERRED})"
)
# When a review precedes the stored one: `gates.precedence` as conditions.
REPLACES = {
    Approval.APPROVED: f"{NOT_REVIEWED} OR #approved_at > :approved_at OR #rejected_at > :approved_at",
    Approval.REJECTED: f"{NOT_REVIEWED} OR #approved_at >= :rejected_at OR #rejected_at > :rejected_at",
}


class DeploymentsTable:
    def __init__(self, client: "DynamoDBClient", name: str, *, retention_days: int) -> None:
        self._table = Table(client, name, label="deployments")
        self._retention_days = retention_days

    def get(self, deployment: DeploymentKey) -> dict[str, Any] | None:
        return self._table.read(_key(deployment))

    def refresh(self, report: DeploymentReport) -> None:
        """Stores a report that was read from GitHub for a user."""
        self.absorb(report)

    def absorb(self, report: DeploymentReport) -> None:
        key = _key(report.key)
        put: dict[str, Any] = {
            "installation_id": report.installation_id,
            "deployment_id": report.deployment_id,
            "repo_full_name": report.repo_full_name,
            **{name: getattr(report, name) for name in FACTS},
        }
        state_times = {name: at for name in STATE_TIMES if (at := getattr(report, name))}
        fill: dict[str, Any] = {**state_times}
        if report.created_at:
            put["created_at"] = report.created_at
        else:
            fill["created_at"] = report.job_created_at or report.reported_at
        # Once required, always required: reports may omit it.
        if report.requires_approval:
            put["requires_approval"] = True
        else:
            fill["requires_approval"] = False
        add = {"job_ids": {report.job_id} if report.job_id is not None else None}
        expiry = {schema.EXPIRY: times.expiry(report.reported_at, self._retention_days)}
        about: dict[str, Any] = {"add": add, "returning": "ALL_NEW"}
        if report.status is None:
            # A redelivered job must not change anything, including the expiry.
            changed = self._table.update(key, put=put, fill=fill | expiry | {"status": Approval.PENDING}, **about)
        else:
            put |= expiry | {"checked_at": report.reported_at}
            changed = self._decide(report, key, put=put, fill=fill, **about) or self._table.update(
                key, put=put, fill=fill, **about
            )
        for name, at in state_times.items():
            # A second write only if the deployment had the state before: the latest time counts, whatever the order.
            if changed[name] < at:
                self._table.update_if(key, put={name: at}, condition=f"#{name} < :{name}")

    def _decide(
        self, report: DeploymentReport, key: dict[str, str], *, put: dict[str, Any], **about: Any
    ) -> dict[str, Any] | None:
        """Returns the deployment. None, without any change, if the stored decision has precedence."""
        assert report.status is not None
        if report.status not in DECIDED_AT or not (report.reviewed_at or report.decided_at):
            return self._table.advance(
                key, report.status, put=put, unless=REVIEWED, names=(*DECISIONS, INFERRED), **about
            )
        if report.reviewed_at is None:
            return self._infer(report, key, put=put, **about)
        return self._table.update_if(
            key,
            put=put | {"status": report.status, DECIDED_AT[report.status]: report.reviewed_at},
            remove=[*_of_other_decisions(report.status), INFERRED],
            condition=REPLACES[report.status],
            **about,
        )

    def _infer(
        self, report: DeploymentReport, key: dict[str, str], *, put: dict[str, Any], fill: dict[str, Any], **about: Any
    ) -> dict[str, Any] | None:
        """Several states show the same decision, in any order. The earliest state has the time of the decision."""
        assert report.status is not None
        decided_at = {DECIDED_AT[report.status]: report.decided_at}
        changed = self._table.advance(
            key,
            report.status,
            put=put | {INFERRED: True},
            fill=fill | decided_at,
            remove=_of_other_decisions(report.status),
            unless=REVIEWED,
            **about,
        )
        for name, at in decided_at.items():
            # A second write only if a later state was reported first.
            if changed and changed[name] > at:
                self._table.update_if(
                    key,
                    put=decided_at,
                    names=(INFERRED,),
                    condition=f"attribute_exists(#{INFERRED}) AND #{name} > :{name}",
                )
        return changed

    def claim(self, deployment: DeploymentKey, *, at: str, until: str) -> bool:
        return self._table.claim(
            _key(deployment),
            at=at,
            until=until,
            expiry=times.expiry(at, self._retention_days),
        )

    def note_checked(self, deployment: DeploymentKey, *, at: str, repo_full_name: str) -> None:
        """Caches that the repository has no such deployment, and ends the claim: a reader may name another one."""
        put = {"checked_at": at, "checked_repo": repo_full_name}
        self._table.update(_key(deployment), put=put, remove=["claimed_until"])


def _of_other_decisions(status: Approval) -> list[str]:
    return [name for each, name in DECIDED_AT.items() if each is not status]


def _key(deployment: DeploymentKey) -> dict[str, str]:
    return {schema.PARTITION: schema.deployment_key(deployment), schema.SORT: schema.ONLY}
