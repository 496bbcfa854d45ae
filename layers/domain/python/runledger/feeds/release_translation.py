"""Translates a change of a head, an environment or a release line into feed events. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any

from runledger.feeds.events import FeedEvent, FeedType, event_id, present
from runledger.model.packages import LineStatus
from runledger.model.releases import HeadState
from runledger.tables import schema
from runledger.tables.release_keys import ENVIRONMENT_MARK, HEAD_MARK, LINE_MARK

Item = Mapping[str, Any]

RELEASES = schema.RELEASES.name
HEAD_FIELDS = (
    *("installation_id", "repo_full_name", "is_default_branch", "workflow_id", "workflow_name", "state", "since"),
)
RUN_FIELDS = ("run_id", "run_attempt", "head_sha", "event", "actor", "conclusion", "run_html_url")
ENVIRONMENT_FIELDS = (
    *("installation_id", "repo_full_name", "environment", "is_production", "is_active", "is_rollback", "since"),
)
DEPLOYMENT_FIELDS = (
    *("deployment_id", "head_sha", "ref", "version", "run_id", "creator", "state", "created_at", "succeeded_at"),
)
LINE_FIELDS = (
    *("installation_id", "repo_full_name", "name", "version", "previous_version", "status", "mode", "message"),
    *("published_at", "completed_at", "total_dependents", "finished_dependents", "failed_dependents"),
)
ENDED = {LineStatus.COMPLETED: FeedType.RELEASE_COMPLETED, LineStatus.FAILED: FeedType.RELEASE_FAILED}


def since(item: Item) -> str | None:
    """When the newest fact of the item became true; None for items of other kinds."""
    found = item.get("since") or item.get("completed_at") or item.get("published_at")
    return str(found) if found else None


def translate(before: Item, after: Item) -> Iterator[FeedEvent]:
    if HEAD_MARK in after:
        yield from _head(before, after)
    elif ENVIRONMENT_MARK in after:
        yield from _environment(before, after)
    elif {LINE_MARK, "published_at", "status"} <= after.keys():
        yield from _line(before, after)


def _head(before: Item, after: Item) -> Iterator[FeedEvent]:
    """The first colour of a head is news only if it is red."""
    was, state = before.get("state", HeadState.NONE), after["state"]
    if state == was or (state == HeadState.GREEN and was != HeadState.RED):
        return
    kind = FeedType.HEAD_TURNED_RED if state == HeadState.RED else FeedType.HEAD_TURNED_GREEN
    installation_id, repo, branch = after["installation_id"], after["repo_full_name"], after["branch"]
    began = (after["since_run_id"], after["since"])
    yield FeedEvent(
        installation_id=installation_id,
        event_id=event_id(installation_id, "head", repo, branch, after["workflow_id"], kind, *began),
        event_type=kind,
        occurred_at=after["since"],
        subject=f"heads/{repo}",
        origin=RELEASES,
        # `head_branch`, as in job and run events, so that a subscription's branch filter applies to all of them.
        payload={**present(after, HEAD_FIELDS), "head_branch": branch, **present(_coloured_run(after), RUN_FIELDS)},
    )


def _coloured_run(head: Item) -> Item:
    """Not always the last run, which may still be running."""
    wanted = head[HEAD_MARK]
    runs = (head.get(name, {}) for name in ("last_run", "previous_run", "last_green_run"))
    return next((run for run in runs if run.get("run_id") == wanted), {"run_id": wanted})


def _environment(before: Item, after: Item) -> Iterator[FeedEvent]:
    current = after.get("current")
    if current is None or _identity(current) == _identity(before.get("current") or {}):
        return
    installation_id, repo, environment = after["installation_id"], after["repo_full_name"], after["environment"]
    kind = FeedType.ENVIRONMENT_CHANGED
    previous = {"previous": present(after["previous"], DEPLOYMENT_FIELDS)} if "previous" in after else {}
    yield FeedEvent(
        installation_id=installation_id,
        event_id=event_id(installation_id, "environment", repo, environment, kind, *_identity(current)),
        event_type=kind,
        occurred_at=after["since"],
        subject=f"environments/{repo}",
        origin=RELEASES,
        payload=present(after, ENVIRONMENT_FIELDS) | {"current": present(current, DEPLOYMENT_FIELDS)} | previous,
    )


def _identity(deployment: Item) -> tuple[object, ...]:
    """A deployment can become active again."""
    return deployment.get("deployment_id"), deployment.get("succeeded_at")


def _line(before: Item, after: Item) -> Iterator[FeedEvent]:
    if not before:
        yield _line_event(FeedType.RELEASE_PUBLISHED, after, after["published_at"])
    status = after["status"]
    if status in ENDED and status != before.get("status"):
        ended_at = after.get("completed_at") or after["published_at"]
        yield _line_event(ENDED[status], after, ended_at, ended_at)


def _line_event(kind: FeedType, line: Item, at: str, *identity: object) -> FeedEvent:
    installation_id, name, version = line["installation_id"], line["name"], line["version"]
    return FeedEvent(
        installation_id=installation_id,
        event_id=event_id(installation_id, "release", name, version, kind, *identity),
        event_type=kind,
        occurred_at=at,
        subject=f"releases/{name}/{version}",
        origin=RELEASES,
        payload=present(line, LINE_FIELDS),
    )
