"""Compares the tables with the reference model: after every write, at every stop and re-run, and at rest."""

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from runledger.tables.attributes import from_attributes

from tests.simulation.histories import broken_histories
from tests.simulation.reconciler.checks import Checks
from tests.simulation.reconciler.machines import SHOWN_AFTER_END_SECONDS
from tests.simulation.reconciler.machines import Machine as SimulatedMachine
from tests.simulation.storage import Key
from tests.simulation.system import model
from tests.simulation.system.invocations import Invocation
from tests.simulation.system.lives import SystemLives
from tests.simulation.system.machine_lives import price_of
from tests.simulation.system.world import SystemWorld
from tests.simulation.values import Item
from tests.support.ledgers import EVENTS, JOBS, RUNNERS, RUNS

# A lookup follows the name of the runner within this time, all its retries included.
LOOKED_UP_SECONDS = 1800
OF_PASSES = {"job_reconciled", "runner_requested"}


class SystemChecks(Checks):
    def __init__(self, world: SystemWorld, lives: SystemLives) -> None:
        super().__init__(world, lives)
        self.world: SystemWorld = world
        self.lives: SystemLives = lives
        self.steps = 0
        self._accepted: dict[tuple[int, int], list[tuple[str, str, str, int]]] = defaultdict(list)
        self._lines: dict[str, set[int]] = defaultdict(set)
        self._reruns: Counter[int] = Counter()
        self._named_at: dict[int, float] = {}

    # What the world reports

    def accepted(self, event: str, body: bytes, guid: str, at: str) -> None:
        if event == "workflow_job":
            message = json.loads(body)
            accepted = (guid, at, message["action"], hash(body))
            installation_id = message.get("installation", {}).get("id", 0)
            self._accepted[installation_id, message["workflow_job"]["id"]].append(accepted)

    def rerun(self, run_id: int) -> None:
        """To be called after GitHub has created the new attempt."""
        attempt = self.state.runs[run_id].run_attempt - 1
        jobs = [each for each in self.state.jobs.values() if (each.run_id, each.run_attempt) == (run_id, attempt)]
        failed = [self.job(each.id) for each in jobs if each.conclusion in model.RERUN]
        wrong = model.wrong_rerun(failed, self.machines(failed), self._reruns[run_id])
        self.world.wrong += [f"run {run_id} {each}" for each in wrong]
        self._reruns[run_id] += 1

    def finished(self, _: Invocation) -> None:
        self.steps += 1

    def of_requests(self) -> Iterator[str]:
        """A request that the SDK has sent twice, with the same number and time, is one request to a launcher."""
        every = self.world.bus.entries
        self.world.bus.entries = tuple({each["Detail"]: each for each in every}.values())
        yield from super().of_requests()

    # After every write

    def written(self, table: str, key: Key, before: Item | None, after: Item | None) -> None:
        if after is None or (key[1] != "v" and table != EVENTS):
            return
        if table == EVENTS:
            self._lines[key[0]].add(int(after["version"]["N"]))
        elif table == JOBS and "job_id" in after:
            old, item = from_attributes(before) if before else None, from_attributes(after)
            job = self.job(item["job_id"])
            if job.runs_on and "runner_name" in item:
                self._named_at.setdefault(job.id, self.world.now())
            self._wrong(f"job {job.id}", model.wrong_job(job, old, item, self.machines([job])))
            if len(_tokens(item)) > len(_tokens(old)) and item["version"] not in self._lines[key[0]]:
                self._wrong(f"job {job.id}", [f"version {item['version']} is saved before its history event"])
        elif table == RUNS and "total_jobs" in after:
            self._wrong(f"run {key[0]}", model.wrong_run(from_attributes(after)))
        elif table == RUNNERS and "contested_at" in after:
            if before is None or "contested_at" not in before:
                self.world.counts["contested machines"] += 1
            if "suspected_at" in after:
                self._wrong(f"machine {key[0]}", ["it is contested and suspected"])

    def _wrong(self, about: str, found: Any) -> None:
        self.world.wrong += [f"{about}: {each}" for each in found if f"{about}: {each}" not in self.world.wrong]

    # What is really so

    def job(self, job_id: int) -> model.Job:
        real, truth = self.state.jobs[job_id], self.lives.truth
        name, ran = real.runner_name or "", truth.ran.get(job_id)
        named = next((each for each in self.world.machines if each.rpartition("/")[2] in name), None)
        planned = set(truth.planned.get(job_id, ()))
        is_gone = self.lives.installation_of(self.state.runs[real.run_id].repository) not in self.state.installations
        return model.Job(
            id=job_id,
            status=real.status,
            conclusion=real.conclusion,
            started_at=_text(real.started_at),
            completed_at=_text(real.completed_at),
            furthest=model.RANK[real.status],
            runs_on=named,
            ran_on=({ran.machine.id} if ran else set()) | (set() if named else planned),
            machines=planned | ({named} if named else set()),
            hidden=self.world.hides or is_gone,
        )

    def machines(self, jobs: list[model.Job]) -> dict[str, model.Machine]:
        ids = {each for job in jobs for each in (*job.machines, *job.ran_on)}
        every = self.world.machines
        return {each: self._machine(every[each]) for each in ids}

    def _machine(self, machine: SimulatedMachine) -> model.Machine:
        truth = self.lives.truth
        return model.Machine(
            machine.id,
            {
                "instance_type": machine.instance_type,
                "instance_lifecycle": "spot" if machine.spot else "on-demand",
                "pool_name": machine.tags["pool"],
                "price_per_hour": price_of(machine),
            },
            warnings=[iso(at) for at in truth.warnings.get(machine.id, ())],
            ends=[
                iso(at - (model.LEASE_SECONDS if self._is_stopped(machine) else model.LAUNCHER_SECONDS))
                for at in truth.ends.get(machine.id, ())
            ],
        )

    def _is_stopped(self, machine: SimulatedMachine) -> bool:
        return any(stopped is machine for _, stopped in self.world.stops)

    def _is_ours(self, job: model.Job) -> bool:
        """Its machine is recognisable as a runner, no other installation has it, and EC2 still had it when named."""
        if job.runs_on is None:
            return False
        found: Any = self.world.storage.get(RUNNERS, (job.runs_on, "v")) or {}
        is_contested = "contested_at" in found or any(each.startswith("x-") for each in self._names_on(job.runs_on))
        machine = self.world.machines[job.runs_on]
        is_forgotten = "installation_id" not in found and self._named_at[job.id] > (
            (machine.ended or self.world.now()) + SHOWN_AFTER_END_SECONDS - LOOKED_UP_SECONDS
        )
        return "runner" in machine.tags and not is_contested and not is_forgotten

    def _names_on(self, machine_id: str) -> list[str]:
        names = (each.runner_name or "" for each in self.state.jobs.values())
        return [each for each in names if machine_id in each]

    # At rest

    def of_jobs_at_rest(self, *, sent_ones_too: bool) -> Iterator[str]:
        """Every job that the ledger has, or whose run it has as open; with `sent_ones_too`, all in GitHub's log."""
        tables = self.world.storage.snapshot().items
        for real in self.state.jobs.values():
            installation_id = self.lives.installation_of(self.state.runs[real.run_id].repository)
            if installation_id not in self.state.installations:
                continue
            found = tables[JOBS].get((f"{installation_id}#{real.id}", "v"))
            run = tables[RUNS].get((f"{installation_id}#{real.run_id}#{real.run_attempt}", "v"))
            is_open = run is not None and run.get("status", {}).get("S") != "completed"
            is_believed_active = self._is_believed_active(installation_id)
            if not sent_ones_too and not (is_believed_active and (found or is_open)):
                continue
            if not found and not is_open and not self._is_in_log(real):
                continue
            item = from_attributes(found) if found else None
            for each in model.wrong_rest(self.job(real.id), item):
                yield f"job {real.id} of run {real.run_id}, attempt {real.run_attempt}: {each}"

    def _is_believed_active(self, installation_id: int) -> bool:
        registry = self.world.receiving.intake.ledger.installations
        records = {each["installation_id"]: each for each in registry.all()}
        return str(records.get(installation_id, {}).get("status", "active")) == "active"

    def of_records(self) -> Iterator[str]:
        """Histories, counters and machines, once all messages are consumed."""
        tables = self.world.storage.snapshot().items
        jobs = {key[0]: from_attributes(each) for key, each in tables[JOBS].items() if "job_id" in each}
        lines: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for (partition, _), each in tables[EVENTS].items():
            lines[partition].append(from_attributes(each))
        for (installation_id, job_id), accepted in self._accepted.items():
            for wrong in model.wrong_history(accepted, lines[f"{installation_id}#{job_id}"]):
                yield f"job {job_id} of installation {installation_id}: {wrong}"
        yield from broken_histories({JOBS: tables[JOBS], EVENTS: dict(_saved(tables[EVENTS], jobs))})
        for key, found in tables[RUNS].items():
            # A crash of a delivery by an organisation's own hook is not followed by a retry: only Apps have a log.
            if key[1] == "v" and "total_jobs" in found and not key[0].startswith("0#"):
                run = from_attributes(found)
                own = [each for each in jobs.values() if _run_of(each) == key[0]]
                yield from (f"run {key[0]}: {each}" for each in model.wrong_counts(run, own))
        for item in jobs.values():
            job = self.job(item["job_id"])
            if item.get("runner_name") != self.state.jobs[job.id].runner_name:
                continue  # GitHub was never called, or no longer has it
            yield from (f"job {job.id}: {each}" for each in model.wrong_assignment(job, item, self._is_ours(job)))


def _saved(events: Any, jobs: Mapping[str, Any]) -> Iterator[tuple[Key, Item]]:
    """The history without lines of webhooks and passes that died before their commit point.

    GitHub redelivers such a webhook, and the next pass makes such a correction: as other inputs, with other lines.
    """
    for key, event in events.items():
        line, job = from_attributes(event), jobs.get(key[0], {})
        delivery, instant = _digest(line["delivery_id"]), _digest(line["timestamp"])[:6]
        if line["source"] == "github_webhook":
            saved = delivery[:4] + instant in bytes(job.get("inputs", b"")).hex()
        else:
            saved = line["event_type"] not in OF_PASSES or delivery + instant in bytes(job.get("inputs", b"")).hex()
        if saved or "changes" not in line:
            yield key, event


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _run_of(item: Any) -> str:
    return f"{item['installation_id']}#{item.get('run_id')}#{item.get('run_attempt')}"


def _tokens(item: Any) -> bytes:
    return bytes(item.get("inputs", b"")) if item else b""


def _text(github_time: str | None) -> str | None:
    return github_time.replace("Z", ".000Z") if github_time else None


def iso(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
