"""The API's requests to GitHub. The API can't read the App's key, so it sends them to a function that can.

The repository comes from the tables. For a run or deployment that they don't have, it comes from the request, and the
function accepts only repositories of the installation's own account.
"""

from collections.abc import Mapping
from dataclasses import asdict, fields
from enum import StrEnum
from typing import Any, get_args

from runledger.model import message_format
from runledger.model.dataclass import dataclass
from runledger.model.keys import DeploymentKey, RunKey


class RequestOutcome(StrEnum):
    DONE = "done"
    CLAIMED = "claimed"  # another reader is calling GitHub
    NO_APP = "no_app"  # the secret contains no GitHub App
    NOT_FOUND = "not_found"  # in neither the ledger nor GitHub's log
    REFUSED = "refused"  # by GitHub, for the reason in the message
    RATE_LIMITED = "rate_limited"
    UNAVAILABLE = "unavailable"


@dataclass(frozen=True, slots=True, kw_only=True)
class _AboutRun:
    installation_id: int
    run_id: int
    run_attempt: int

    @property
    def key(self) -> RunKey:
        return RunKey(self.installation_id, self.run_id, self.run_attempt)


@dataclass(frozen=True, slots=True, kw_only=True)
class RefreshRun(_AboutRun):
    """With NEWEST_ATTEMPT, looks up a run whose attempts are unknown."""

    repo_full_name: str | None = None  # used only if the table doesn't have the run


@dataclass(frozen=True, slots=True, kw_only=True)
class RefreshDeployment:
    installation_id: int
    deployment_id: int
    repo_full_name: str | None = None  # used only if the table doesn't have the deployment

    @property
    def key(self) -> DeploymentKey:
        return DeploymentKey(self.installation_id, self.deployment_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class RerunFailedJobs(_AboutRun):
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class Redeliver:
    """`delivery_id` is the id of a row in GitHub's log, or the GUID from X-GitHub-Delivery."""

    delivery_id: str


GitHubRequest = RefreshRun | RefreshDeployment | RerunFailedJobs | Redeliver
KINDS: Mapping[str, type[GitHubRequest]] = {
    "refresh_run": RefreshRun,
    "refresh_deployment": RefreshDeployment,
    "rerun_failed_jobs": RerunFailedJobs,
    "redeliver": Redeliver,
}
NAMES = {kind: name for name, kind in KINDS.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    outcome: RequestOutcome
    message: str = ""
    delivery_id: int | None = None


def to_event(request: GitHubRequest, *, correlation_id: str | None = None) -> dict[str, Any]:
    values = {"request": NAMES[type(request)], **asdict(request)}
    return message_format.stamp(values, correlation_id=correlation_id)


def from_event(event: Mapping[str, Any]) -> GitHubRequest:
    """Raises ValueError if the request is unknown, and NewerMessage if a newer version wrote it."""
    message_format.check(event)
    kind = KINDS.get(str(event.get("request")))
    if kind is None:
        raise ValueError("request is not a known kind of request")
    values: dict[str, Any] = {field.name: event.get(field.name) for field in fields(kind)}
    for field in fields(kind):
        if type(values[field.name]) not in (get_args(field.type) or (field.type,)):
            raise ValueError(f"{field.name} is missing or has the wrong type")
    return kind(**values)


def from_result(values: Mapping[str, Any]) -> Result:
    """During an upgrade, a newer version may return an unknown outcome. Then the request counts as not executed."""
    if values["outcome"] not in list(RequestOutcome):
        return Result(outcome=RequestOutcome.UNAVAILABLE, message=f"unknown outcome {values['outcome']}")
    return Result(
        outcome=RequestOutcome(values["outcome"]),
        message=str(values.get("message") or ""),
        delivery_id=values.get("delivery_id"),
    )
