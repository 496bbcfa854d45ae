"""The reference model: what the ledger must hold, in a few plain rules, written without the product's code.

The world reports to it what really happens (`Job`, `Machine`) and which inputs the ledger has accepted. It returns
what is wrong about an item of a table. Items are plain dictionaries, times are ISO texts of fixed width.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

Item = Mapping[str, Any]
Accepted = tuple[str, str, str, int]
"""Id, time, status and hash of the body of a delivery that the ledger has accepted."""
RANK = {"queued": 0, "waiting": 0, "scheduled": 1, "in_progress": 2, "completed": 3}
FAILURES = {"failure", "timed_out", "startup_failure"}
RERUN = {*FAILURES, "cancelled"}
# The facts of a job about its machine.
DESCRIPTION = ("instance_type", "instance_lifecycle", "pool_name", "price_per_hour")
GRACE_SECONDS = 600
# The end of a machine that the ledger stops is dated at the start of its lease.
LEASE_SECONDS = 300
# Launchers report whole seconds.
LAUNCHER_SECONDS = 1


@dataclass
class Machine:
    """The machine's real state. `description` has the values that a job on it may show."""

    id: str
    description: Mapping[str, Any]
    warnings: list[str] = field(default_factory=list)
    ends: list[str] = field(default_factory=list)
    """Each end as the earliest time that the ledger may give for it."""


@dataclass
class Job:
    """The job's real state on GitHub."""

    id: int
    status: str = "queued"
    conclusion: str | None = None
    started_at: str | None = None
    completed_at: str | None = None
    furthest: int = 0
    """The rank that it has reached on GitHub. A waiting job has the rank of a queued one."""
    runs_on: str | None = None
    """The machine whose id is in the name of its runner."""
    ran_on: set[str] = field(default_factory=set)
    """The machine on which it really ran. If the runner's name has no id, the planned ones may be meant as well."""
    machines: set[str] = field(default_factory=set)
    """Those that a launcher started for it, or that it ran on: it can have no others."""
    hidden: bool = False
    """GitHub has responded that it doesn't exist, or the App was removed: it may be closed as cancelled."""


# After every write


def wrong_job(job: Job, before: Item | None, item: Item, machines: Mapping[str, Machine]) -> Iterator[str]:
    status, was = item["status"], before["status"] if before else "queued"
    if RANK[status] < RANK[was] and (was, status) not in (("scheduled", "queued"), ("scheduled", "waiting")):
        yield f"it was {was} and is {status}"
    # The state is never ahead of the facts: `scheduled` follows from a launcher, all else from GitHub.
    if status == "scheduled" and not job.machines:
        yield "it is scheduled, and no launcher started a machine for it"
    if RANK[status] > max(job.furthest, RANK["scheduled"]) and not (status == "completed" and job.hidden):
        yield f"it is {status}, and on GitHub it was never further than {job.status}"
    closed = job.hidden and item.get("conclusion") == "cancelled"
    for name in ("started_at", "completed_at"):
        if name in item and item[name] != getattr(job, name) and not (name == "completed_at" and closed):
            yield f"{name} is {item[name]}, and on GitHub {getattr(job, name)}"
    yield from _wrong_machine(job, item, machines)
    yield from _wrong_cost(item)


def _wrong_machine(job: Job, item: Item, machines: Mapping[str, Machine]) -> Iterator[str]:
    """Facts of two machines never mix."""
    if "instance_id" in item and item["instance_id"] not in job.machines:
        yield f"it has the machine {item['instance_id']}, on which it never was"
        return
    machine = machines.get(item.get("instance_id", ""))
    if machine is None:
        if mixed := [name for name in (*DESCRIPTION, "interrupted_at", "terminated_at") if name in item]:
            yield f"it has no machine, but {', '.join(mixed)}"
        return
    for name in DESCRIPTION:
        if name in item and item[name] != machine.description[name]:
            yield f"{name} is {item[name]}, and {machine.id} has {machine.description[name]}"
    if "interrupted_at" in item and item["interrupted_at"] not in machine.warnings:
        yield f"interrupted_at is {item['interrupted_at']}, and {machine.id} was warned at {machine.warnings}"
    if "terminated_at" in item and not any(end <= item["terminated_at"] for end in machine.ends):
        yield f"terminated_at is {item['terminated_at']}, and {machine.id} ended at {machine.ends}"


def _wrong_cost(item: Item) -> Iterator[str]:
    """Seconds from start to end, or to the end of the machine; a minute at least is billed."""
    if item["status"] != "completed" or "completed_at" not in item:
        return
    started, completed, died = item.get("started_at"), item["completed_at"], item.get("terminated_at")
    seconds, price = 0, item.get("price_per_hour")
    if started and not completed < item["created_at"]:  # else it never ran, or is a copy of an earlier attempt's
        is_elsewhere = "instance_id" in item and _names_other(item.get("runner_name"), item["instance_id"])
        end = min(completed, died) if died and died >= started and not is_elsewhere else completed
        seconds = max(0, int(seconds_between(started, end)))
        cost = None if price is None or is_elsewhere else price * max(seconds, 60) / 3600
    else:
        cost = Decimal(0)
    if item.get("usage_in_seconds") != seconds:
        yield f"usage_in_seconds is {item.get('usage_in_seconds')}, and the facts give {seconds}"
    rounded = None if cost is None else cost.quantize(Decimal("0.000001"), ROUND_HALF_UP)
    if item.get("usage_in_dollars") != rounded:
        yield f"usage_in_dollars is {item.get('usage_in_dollars')}, and the facts give {rounded}"


def _names_other(runner_name: str | None, machine_id: str) -> bool:
    """Runners of these worlds are named `runner-<id>`, or `pool-<number>` without an id."""
    return bool(runner_name and "pool-" not in runner_name and machine_id.rpartition("/")[2] not in runner_name)


def wrong_run(item: Item) -> Iterator[str]:
    """Each counter is the size of its set."""
    ids = {name: set(item.get(f"{name}_job_ids", ())) for name in ("open", "done", "failed")}
    counted = {"total_jobs": ids["open"] | ids["done"], "completed_jobs": ids["done"], "failed_jobs": ids["failed"]}
    for name, those in counted.items():
        if name in item and item[name] != len(those):
            yield f"{name} is {item[name]}, and counted are {sorted(those)}"
    if ids["open"] & ids["done"] or not ids["failed"] <= ids["done"]:
        yield f"open, done and failed jobs contradict each other: {ids}"


# At the moment of the call


def wrong_rerun(failed: Iterable[Job], machines: Mapping[str, Machine], before: int) -> Iterator[str]:
    """Failed jobs are re-run at most once, and only if all of them lost their machine."""
    if before:
        yield "was re-run twice"
    for job in failed:
        lost = [at for each in job.ran_on for at in (*machines[each].warnings, *machines[each].ends)]
        if not any(at <= (job.completed_at or "") for at in lost):
            yield f"was re-run, and job {job.id} failed for a reason of its own"


# At rest


def wrong_history(accepted: Iterable[Accepted], lines: Iterable[Item]) -> Iterator[str]:
    """Every accepted delivery is in it, each with its own line. One that arrives twice at one instant has one line."""
    found = {(line["delivery_id"], line["timestamp"]): line for line in lines}
    new: Counter[int] = Counter()
    for guid, at, status, body in dict.fromkeys(accepted):
        line = found.get((guid, at))
        if line is None:
            yield f"the delivery {guid} ({status}), accepted at {at}, is not in the history"
        elif "duplicate" not in line:
            new[body] += 1
            # After an approval, GitHub sends `queued` again, possibly with the same body.
            if new[body] > 1 and status != "queued":
                yield f"the delivery {guid} ({status}) is not the first of its body, and counts as new"


def wrong_counts(run: Item, jobs: Iterable[Item]) -> Iterator[str]:
    """The jobs of the run are those that it counts."""
    every = {each["job_id"]: each for each in jobs}
    ended = {each for each, job in every.items() if job["status"] == "completed"}
    failed = {each for each in ended if every[each].get("conclusion") in FAILURES}
    expected = {"open_job_ids": set(every) - ended, "done_job_ids": ended, "failed_job_ids": failed}
    for name, ids in expected.items():
        if set(run.get(name, ())) != ids:
            yield f"{name} are {sorted(run.get(name, ()))}, and its jobs are {sorted(ids)}"


def wrong_rest(job: Job, item: Item | None) -> Iterator[str]:
    """After two passes in silence, the ledger and GitHub agree."""
    if item is None:
        yield f"{job.status} on GitHub, and unknown here"
        return
    here = "queued" if item["status"] == "scheduled" else item["status"]
    if (here, item.get("conclusion")) == (job.status, job.conclusion):
        return
    if job.hidden and here == "completed" and item.get("conclusion") == "cancelled" and job.status != "completed":
        return  # closed while GitHub hid it. A closed job is not opened again
    yield f"{job.status} ({job.conclusion}) on GitHub, {item['status']} ({item.get('conclusion')}) here"


def wrong_assignment(job: Job, item: Item, is_ours: bool) -> Iterator[str]:
    """A job whose runner has the id of one of our machines is shown with that machine, or with none."""
    if job.runs_on and is_ours and item.get("instance_id") not in (job.runs_on, None):
        yield f"GitHub ran it on {job.runs_on}, and it is shown with {item['instance_id']}"


def seconds_between(start: str, end: str) -> float:
    return (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds()
