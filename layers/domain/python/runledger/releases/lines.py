"""Release lines: the progress of the rebuilds of a publication's dependents, and which can be dispatched next.

Each dependent's state is in its own item, and each change of it is one conditional write. Everything else is derived
from these items: which dependents are blocked, and the status of the line. So if a process dies, the next one completes
its work.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from runledger.model import times
from runledger.model.dataclass import dataclass
from runledger.model.errors import ContendedError
from runledger.model.inputs import Conclusion
from runledger.model.packages import (
    AWAITING_RUN,
    ENDED_REBUILDS,
    FAILED_REBUILDS,
    LineKey,
    LineStatus,
    RebuildStatus,
)
from runledger.model.releases import RebuildMode
from runledger.model.reports import RunStatus
from runledger.tables.release_lines import LinesTable

DISPATCH_EVENT = "workflow_dispatch"
TRIES = 20
# To find the rebuild of a run, this many of the repository's rebuilds are read: the last opened before the run began.
MOST_OPEN = 100
# Longer than the timeout of the function that calls GitHub: an older claim belongs to a process that died.
STALE_SECONDS = 300
# GitHub's times have whole seconds, and its clock may differ from ours.
TOLERANCE_SECONDS = 5
PASSED = frozenset({RebuildStatus.SUCCEEDED, RebuildStatus.SKIPPED})
LOST_RESPONSE = "No response from GitHub: it may have started a run, so the dispatch isn't repeated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """`send` puts a line on the rebuild queue."""

    table: LinesTable
    send: Callable[[LineKey], None]
    now: Callable[[], str]

    def run_changed(self, run: Mapping[str, Any]) -> None:
        """Called for each new or changed item of workflow_runs. Only runs of dispatched workflows are looked up."""
        if run.get("event") != DISPATCH_EVENT or "repo_full_name" not in run or "workflow_id" not in run:
            return
        found = self._rebuilds_of(run)
        if not found or run.get("status") != RunStatus.COMPLETED:
            return
        succeeded = run.get("conclusion") == Conclusion.SUCCESS
        ended = {
            **_about(run),
            "run_attempt": run["run_attempt"],
            "completed_at": run.get("updated_at") or self.now(),
            "message": None if succeeded else f"The run ended with {run.get('conclusion')}",
        }
        status = RebuildStatus.SUCCEEDED if succeeded else RebuildStatus.FAILED
        for line, name in found:
            self.table.end_run(line, name, status, run=ended)
            # Even if this result was stored before: that process may have died before it sent the line.
            self.send(line)

    def _rebuilds_of(self, run: Mapping[str, Any]) -> list[tuple[LineKey, str]]:
        """The rebuilds with this run, or else this workflow's longest open rebuild without a run.

        Two rebuilds have the same run if the run was first assigned to an older claim, before GitHub's response named
        the right one.
        """
        began_by = times.later(run.get("created_at") or self.now(), seconds=TOLERANCE_SECONDS)
        rebuilds = self.table.rebuilds(run["installation_id"], run["repo_full_name"], until=began_by)[-MOST_OPEN:]
        items = [(line, name, self.table.dependent(line, name) or {}) for line, name in rebuilds]
        if found := [(line, name) for line, name, item in items if item.get("run_id") == run["run_id"]]:
            return found
        expecting = [each for each in items if is_expected(each[2], run)]
        for line, name, _ in sorted(expecting, key=lambda each: AWAITING_RUN.index(each[2]["status"])):
            if self.table.assign_run(line, name, run=_about(run)):
                return [(line, name)]
        return []

    def settle(self, line: LineKey) -> list[dict[str, Any]]:
        """Updates the status of the line. Returns its dependents, or an empty list if they aren't rebuilt."""
        for _ in range(TRIES):
            stored = self.table.get(line)
            if stored is None or stored["mode"] != RebuildMode.ENFORCE or stored["status"] == LineStatus.REFUSED:
                return []
            dependents = self._derived(line, self.table.dependents(line))
            values = summary(dependents, now=self.now(), completed_at=stored.get("completed_at"))
            is_current = all(stored.get(name) == value for name, value in values.items())
            if is_current or self.table.save(line, values, seen=stored["revision"]):
                return dependents
        raise ContendedError(
            f"the release line {line.name} {line.version} is being changed by another process: try again"
        )

    def _derived(self, line: LineKey, dependents: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Stores derived statuses: blocked, no longer blocked, or unknown if the claim's process died."""
        found = []
        for item in dependents:
            status, message = derive(item, dependents, now=self.now())
            if status != item["status"]:
                sources = [RebuildStatus(item["status"])]
                owner = item.get("claimed_by") if status is RebuildStatus.UNKNOWN else None
                cleared = [] if message else ["message"]
                put = {"message": message}
                if not self.table.move(
                    line, item["name"], status, sources=sources, owner=owner, put=put, remove=cleared
                ):
                    # Another process has changed it.
                    item = self.table.dependent(line, item["name"]) or item  # noqa: PLW2901
                else:
                    item = item | {"status": status, "message": message}  # noqa: PLW2901
            found.append(item)
        return found


def is_expected(item: Mapping[str, Any], run: Mapping[str, Any]) -> bool:
    """Whether this rebuild may have started the run: its dispatch got no response that named a run."""
    return (
        item.get("status") in AWAITING_RUN
        and "run_id" not in item
        and item.get("workflow_id") == run["workflow_id"]
        and run.get("created_at", times.BEFORE_ALL) >= times.earlier(item["dispatched_at"], seconds=TOLERANCE_SECONDS)
    )


def derive(
    item: Mapping[str, Any], dependents: Iterable[Mapping[str, Any]], *, now: str
) -> tuple[RebuildStatus, str | None]:
    status = RebuildStatus(item["status"])
    if status is RebuildStatus.DISPATCHING and item["dispatched_at"] < times.earlier(now, seconds=STALE_SECONDS):
        return RebuildStatus.UNKNOWN, LOST_RESPONSE
    if status not in (RebuildStatus.WAITING, RebuildStatus.BLOCKED):
        return status, item.get("message")
    failed = _failed_before(item, {each["name"]: each for each in dependents})
    if failed:
        return RebuildStatus.BLOCKED, f"{failed} failed"
    return RebuildStatus.WAITING, item.get("message") if status is RebuildStatus.WAITING else None


def _failed_before(item: Mapping[str, Any], by_name: Mapping[str, Any]) -> str | None:
    """The first failed package among its direct and indirect dependencies."""
    pending: list[str] = list(item["depends_on"])
    seen: set[str] = set()
    while pending:
        name = pending.pop(0)
        if name in seen or name not in by_name:
            continue
        seen.add(name)
        if by_name[name]["status"] == RebuildStatus.FAILED:
            return name
        pending.extend(by_name[name]["depends_on"])
    return None


def is_ready(item: Mapping[str, Any], dependents: Iterable[Mapping[str, Any]]) -> bool:
    if item["status"] != RebuildStatus.WAITING:
        return False
    statuses = {each["name"]: each["status"] for each in dependents}
    return all(statuses.get(name) in PASSED for name in item["depends_on"])


def summary(dependents: Sequence[Mapping[str, Any]], *, now: str, completed_at: str | None) -> dict[str, Any]:
    """The status of a line whose dependents are rebuilt."""
    finished = sum(each["status"] in ENDED_REBUILDS for each in dependents)
    failed = sum(each["status"] in FAILED_REBUILDS for each in dependents)
    is_ended = finished == len(dependents)
    status = LineStatus.FAILED if failed else LineStatus.COMPLETED
    return {
        "status": status if is_ended else LineStatus.REBUILDING,
        "finished_dependents": finished,
        "failed_dependents": failed,
        "completed_at": (completed_at or now) if is_ended else None,
    }


def _about(run: Mapping[str, Any]) -> dict[str, Any]:
    return {"run_id": run["run_id"], "run_html_url": run.get("run_html_url")}
