"""The head of a workflow on a branch: its last run, and since when it is green or red. Pure.

Runs are ordered by their ids, which GitHub assigns in increasing order, so the order of the reports doesn't matter. An
attempt without a colour (unfinished, cancelled, skipped, …) keeps the colour of the attempt before: a red head stays
red while its run is repeated.
"""

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from runledger.model.inputs import Conclusion
from runledger.model.job import FAILURES
from runledger.model.releases import HeadKey, HeadState
from runledger.model.reports import RunStatus

Item = Mapping[str, Any]

# How many runs are searched for the start of the streak and for the last green run.
MOST_RUNS = 500
PULL_REQUEST = "pull_request"  # events whose names begin with it: their runs don't count for a branch
# Events that anyone with a GitHub account can trigger in a public repository. Their runs are on the default branch, but
# don't test its commits: a stranger who opens an issue must not turn it red.
BY_ANYONE = frozenset(
    {"discussion", "discussion_comment", "fork", "gollum", "issue_comment", "issues", "watch"},
)
# A run that is known only from its jobs or from GitHub's API doesn't have all of these.
NEEDED = {
    *("installation_id", "run_id", "run_attempt", "repo_full_name", "head_branch", "default_branch"),
    *("workflow_id", "event", "status"),
}
# Other changes of a run, most of which update its job counts, don't affect its head.
RELEVANT = (*NEEDED, "conclusion", "updated_at", "from_fork", "head_sha", "head_committed_at", "workflow_name")
RUN_FIELDS = (
    *("run_id", "run_attempt", "head_sha", "event", "actor", "status", "conclusion"),
    *("created_at", "completed_at", "run_html_url"),
)
STREAK = ("state", "since", "since_run_id", "coloured_run_id")


def is_counted(run: Item) -> bool:
    """`run` is an item of workflow_runs."""
    if not run.keys() >= NEEDED or run.get("from_fork"):
        return False
    return run["event"] not in BY_ANYONE and not str(run["event"]).startswith(PULL_REQUEST)


def is_changed(before: Item, after: Item) -> bool:
    return any(before.get(name) != after.get(name) for name in RELEVANT)


def key_of(run: Item) -> HeadKey:
    return HeadKey(
        run["installation_id"],
        run["repo_full_name"],
        run["head_branch"],
        run["workflow_id"],
        is_default_branch=run["head_branch"] == run["default_branch"],
    )


def run_values(run: Item) -> dict[str, Any]:
    """The attributes to store."""
    values = {
        **{name: run.get(name) for name in (*RUN_FIELDS, "workflow_name")},
        "completed_at": ended_at(run) if run["status"] == RunStatus.COMPLETED else None,
        "revision": revision(run),
        **colour_values(run),
    }
    return {name: value for name, value in values.items() if value is not None}


def colour_values(run: Item) -> dict[str, Any]:
    colour = colour_of(run)
    return {"colour": colour, "coloured_attempt": run["run_attempt"], "coloured_at": ended_at(run)} if colour else {}


def colour_of(run: Item) -> HeadState | None:
    if run["status"] != RunStatus.COMPLETED:
        return None
    if run.get("conclusion") == Conclusion.SUCCESS:
        return HeadState.GREEN
    return HeadState.RED if run.get("conclusion") in FAILURES else None


def revision(run: Item) -> str:
    """If there are two reports about a run, the one with the greater revision counts."""
    progress = tuple(RunStatus).index(RunStatus(run["status"]))
    return f"{run['run_attempt']:010d}#{progress}#{run.get('updated_at') or ''}"


def ended_at(run: Item) -> str:
    return str(run.get("updated_at") or run.get("checked_at") or run["created_at"])


def advanced(head: Item, row: Item) -> dict[str, Any] | None:
    """The head after a change of its newest run. None if its other runs must be read to compute it."""
    last = head["last_run"]
    is_next = row["run_id"] > last["run_id"]
    is_newest = is_next or (row["run_id"] == last["run_id"] and row["revision"] >= head["revision"])
    is_recoloured = head.get("coloured_run_id") == row["run_id"] and row.get("colour") != head["state"]
    if is_recoloured or not is_newest:
        return None
    previous = {"previous_run": last} if is_next else {}
    return {**head, **_last(row), **previous, **_streak_after(head, row)}


def computed(rows: Iterable[Item], stored: Item | None) -> dict[str, Any] | None:
    """Computes the head from its runs, newest first, reading only as many as it needs. None if there are none.

    Runs expire, so the `stored` head stands for runs that are older than the oldest row.
    """
    read = list[Item]()
    newest = first = green = None
    is_complete = False
    for row in islice(rows, MOST_RUNS):
        read.append(row)
        colour = row.get("colour")
        if colour is not None and not is_complete:
            newest = newest or row
            is_complete = colour != newest["colour"]
            first = first if is_complete else row
        green = green or (row if colour == HeadState.GREEN else None)
        if is_complete and green and len(read) > 1:
            break
    if not read:
        return None
    oldest = read[-1]["run_id"]
    previous = run_of(read[1]) if len(read) > 1 else _older(stored, "previous_run", oldest)
    last_green = run_of(green) if green else _older(stored, "last_green_run", oldest)
    return {
        **_last(read[0]),
        **({"previous_run": previous} if previous else {}),
        **({"last_green_run": last_green} if last_green else {}),
        **_streak(newest, first, stored=None if is_complete else stored, oldest=oldest),
    }


def run_of(row: Item) -> dict[str, Any]:
    return {name: row[name] for name in RUN_FIELDS if name in row}


def _streak(newest: Item | None, first: Item | None, *, stored: Item | None, oldest: int) -> dict[str, Any]:
    """`stored` is given if the streak may have begun before the oldest run."""
    earlier = stored if stored and stored.get("since_run_id", oldest) < oldest else {}
    if newest is None or first is None:
        return {"state": HeadState.NONE} | {name: earlier[name] for name in STREAK if name in earlier}
    began = {"since": first["coloured_at"], "since_run_id": first["run_id"]}
    if earlier and earlier["state"] == newest["colour"]:
        began = {name: earlier[name] for name in began}
    return {"state": newest["colour"], "coloured_run_id": newest["run_id"], **began}


def _streak_after(head: Item, row: Item) -> dict[str, Any]:
    if "colour" not in row:
        return {}
    found: dict[str, Any] = {"state": row["colour"], "coloured_run_id": row["run_id"]}
    if row["colour"] != head["state"] or head.get("since_run_id") == row["run_id"]:
        found |= {"since": row["coloured_at"], "since_run_id": row["run_id"]}
    if row["colour"] == HeadState.GREEN:
        found["last_green_run"] = run_of(row)
    return found


def _older(stored: Item | None, name: str, oldest: int) -> Any:
    """A run from the stored head, if the run has expired."""
    found = (stored or {}).get(name)
    return found if found and found["run_id"] < oldest else None


def _last(row: Item) -> dict[str, Any]:
    named = {"workflow_name": row["workflow_name"]} if "workflow_name" in row else {}
    return {"last_run": run_of(row), "revision": row["revision"], **named}
