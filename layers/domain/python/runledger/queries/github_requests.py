"""What the API may have done at GitHub: it doesn't hold the App's key, so it sends these to a function that does.

A request names only ids. The repository comes from the tables, so the API reaches nothing that the ledger doesn't have.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from typing import Any

from runledger.model import message_format


class Outcome(StrEnum):
    DONE = "done"
    CLAIMED = "claimed"  # another reader is asking GitHub at the moment
    NO_APP = "no_app"  # the secret holds no GitHub App
    NOT_FOUND = "not_found"  # neither the ledger nor GitHub's log has it
    REFUSED = "refused"  # by GitHub, for the reason in the message
    RATE_LIMITED = "rate_limited"
    UNAVAILABLE = "unavailable"


@dataclass(frozen=True, slots=True, kw_only=True)
class RefreshRun:
    installation_id: int
    run_id: int
    run_attempt: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RefreshDeployment:
    installation_id: int
    deployment_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RerunFailedJobs:
    installation_id: int
    run_id: int
    run_attempt: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Redeliver:
    """`delivery_id` is GitHub's number of a delivery, or its X-GitHub-Delivery."""

    delivery_id: str


Request = RefreshRun | RefreshDeployment | RerunFailedJobs | Redeliver
KINDS: Mapping[str, type[Request]] = {
    "refresh_run": RefreshRun,
    "refresh_deployment": RefreshDeployment,
    "rerun_failed_jobs": RerunFailedJobs,
    "redeliver": Redeliver,
}
NAMES = {kind: name for name, kind in KINDS.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    outcome: Outcome
    message: str = ""
    delivery_id: int | None = None


def to_event(request: Request) -> dict[str, Any]:
    return message_format.stamp({"request": NAMES[type(request)], **asdict(request)})


def from_event(event: Mapping[str, Any]) -> Request:
    """ValueError if it isn't one of the requests above, NewerMessage if a newer version may have more of them."""
    message_format.check(event)
    kind = KINDS.get(str(event.get("request")))
    if kind is None:
        raise ValueError("request names no request that exists")
    given: dict[str, Any] = {field.name: event.get(field.name) for field in fields(kind)}
    for field in fields(kind):
        if type(given[field.name]) is not field.type:
            raise ValueError(f"{field.name} must be given")
    return kind(**given)


def from_result(answer: Mapping[str, Any]) -> Result:
    """The newer side of an upgrade may have more outcomes: none of them means that the request was carried out."""
    if answer["outcome"] not in list(Outcome):
        return Result(outcome=Outcome.UNAVAILABLE, message=f"unknown outcome {answer['outcome']}")
    result: Result = message_format.read(Result, answer)
    return result
