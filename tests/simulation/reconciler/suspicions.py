"""Follows the suspicion of each runner from write to write, and judges it by what is true on GitHub and EC2."""

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from runledger.model.runner import RunnerStatus
from runledger.model.suspicion import Reason
from runledger.reconciliation.orphans import RECHECK_SECONDS
from runledger.reconciliation.runners import OVERDUE_SECONDS
from runledger.tables.attributes import from_attributes

from tests.simulation.reconciler.lives import Lives
from tests.simulation.reconciler.machines import Machine
from tests.simulation.reconciler.production import LAMBDA_SECONDS
from tests.simulation.reconciler.troubles import MINUTE
from tests.simulation.reconciler.world import World
from tests.simulation.values import Item
from tests.support.ledgers import JOBS, RUNNERS

GRACE_SECONDS = REGISTRATION_SECONDS = 10 * MINUTE
RACE_SECONDS = 5.0  # what happens in the middle of a few calls can't be seen by them
ALIVE = {str(reason) for reason in Reason if reason.machine_is_running}


class Suspicions:
    def __init__(self, world: World, lives: Lives) -> None:
        self.world, self.lives, self.state = world, lives, world.github.state
        self.since: dict[str, float] = {}  # the first suspicion of each runner that is suspected as alive now
        self.cleared: dict[str, float] = {}  # until the next job is recorded
        self.assigned: dict[str, float] = {}
        self.became: Counter[str] = Counter()
        self.counted: Counter[str] = Counter()
        self.reasons: Counter[str] = Counter()
        self._observe()

    def _observe(self) -> None:
        storage = self.world.engine.storage
        write = storage.write

        def observed(table: str, key: tuple[str, str], item: Item | None) -> None:
            before = storage.get(table, key)
            write(table, key, item)
            if table == RUNNERS and item is not None and "runner_id" in item:
                self.world.wrong += self._of_a_write(from_attributes(before or {}), from_attributes(item))

        storage.write = observed  # type: ignore[method-assign]

    def _of_a_write(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
        runner_id, now = after["runner_id"], self.world.now()
        if before.get("assignments") != after.get("assignments"):
            self.assigned[runner_id] = now
            self.cleared.pop(runner_id, None)
        was, reason = before.get("suspected_reason"), after.get("suspected_reason")
        if after.get("status") == "cleaned":
            self.since.pop(runner_id, None)
        if was == reason:
            return
        if reason in ALIVE:
            yield from self._of_a_suspicion(runner_id, after, is_new=was is None)
            self.since.setdefault(runner_id, now)
        else:
            self.since.pop(runner_id, None)
            if was is not None and reason is None and self.assigned.get(runner_id) != now:
                self.cleared[runner_id] = now

    def _of_a_suspicion(self, runner_id: str, after: Mapping[str, Any], *, is_new: bool) -> Iterator[str]:
        now, reason = self.world.now(), after["suspected_reason"]
        self.reasons[reason] += 1
        self.became[runner_id] += is_new
        # The clearing and the suspicion are dated by the starts of their passes.
        if now - self.cleared.get(runner_id, 0) < RECHECK_SECONDS - LAMBDA_SECONDS:
            yield f"{runner_id} was suspected again {now - self.cleared[runner_id]:.0f} seconds after it was cleared"
        if reason != Reason.NEVER_REGISTERED:
            return
        machine, job = self.world.ec2.machines[runner_id], self.state.jobs[after["job_id"]]
        if now - machine.launched < REGISTRATION_SECONDS:
            yield f"{runner_id} was suspected {now - machine.launched:.0f} seconds after its launch"
        if self._is_online(machine, before=now - LAMBDA_SECONDS):
            yield f"{runner_id} was suspected of never registering, and is online"
        if job.status != "queued" and now - self.lives.statuses[job.id] > LAMBDA_SECONDS:
            yield f"{runner_id} was suspected of never registering, and its job {job.id} is {job.status} on GitHub"

    def _is_waiting(self, runner_id: str) -> bool:
        """Whether it waits for its cleanup. Another pass may be cleaning it up now."""
        runner = self.world.receiving.runners.table.get(runner_id)
        return self._is_alive(runner_id) and runner is not None and runner.status is RunnerStatus.ACTIVE

    def _is_alive(self, runner_id: str) -> bool:
        return self.world.ec2.machines[runner_id].alive

    def _is_online(self, machine: Machine, *, before: float) -> bool:
        """Whether it is online under a name with its id. Other names aren't recognised, and keep every machine alive.

        An ephemeral runner is no longer registered after its job, even if its machine lives on.
        """
        came_online = machine.facts.get("online", self.world.now()) <= before
        return came_online and machine.id in machine.facts["name"] and self.lives.runner_of(machine) is not None

    def of_a_stop(self, machine: Machine) -> list[str]:
        item = self.world.receiving.runners.table.get(machine.id)
        if item is None or item.suspected_at is None:
            return [f"{machine.id} was stopped, and wasn't suspected"]
        wrong, now = [], self.world.now()
        # A suspicion is dated by the start of its pass, and written up to minutes later if GitHub doesn't respond.
        dated, written = datetime.fromisoformat(item.suspected_at).timestamp(), self.since.get(machine.id, now)
        if now - dated < GRACE_SECONDS or now - written < GRACE_SECONDS - LAMBDA_SECONDS / 2:
            wrong.append(f"{machine.id} was stopped {now - written:.0f} seconds after suspicion")
        online = self._is_online(machine, before=now - RACE_SECONDS)
        if item.suspected_reason == Reason.NEVER_REGISTERED and online:
            wrong.append(f"{machine.id} was stopped because it never registered, and is online")
        return wrong

    def of_a_request(self, job_id: int) -> list[str]:
        """Never two machines for one job: at the moment of the request, none that is recorded for it is alive.

        The newest plan counts: if a launcher has started several, the earlier machines are no longer the job's.
        """
        items = self.world.engine.storage.seen(RUNNERS).values()
        runners = [from_attributes(item) for item in items if "runner_id" in item]
        planned = [each for each in runners if any(one["job_id"] == job_id for one in each.get("assignments", ()))]
        present = {each.get("instance_id") for each in self._recorded(job_id)}
        alive = [
            each["runner_id"]
            for each in runners
            if each.get("job_id") == job_id
            and each.get("status") == "active"
            and (len(planned) == 1 or each["runner_id"] in present)
            and self._is_alive(each["runner_id"])
            and self.assigned.get(each["runner_id"], 0) < self.world.now() - RACE_SECONDS
        ]
        return [f"a runner was requested for job {job_id}, and its machine {each} is alive" for each in alive]

    def _recorded(self, job_id: int) -> list[dict[str, Any]]:
        """The job, as reported by each hook."""
        items = self.world.engine.storage.seen(JOBS).values()
        return [from_attributes(item) for item in items if item.get("job_id") == {"N": str(job_id)}]

    def emitted(self, metrics: Mapping[str, float], about: Mapping[str, Any]) -> None:
        """Lines of the log, which CloudWatch turns into metrics."""
        self.world.wrong += self._of_a_line(metrics, about)

    def _of_a_line(self, metrics: Mapping[str, float], about: Mapping[str, Any]) -> Iterator[str]:
        runner_id, now = about.get("runner_id", ""), self.world.now()
        match about.get("message"):
            case "orphan suspected":
                self.counted[runner_id] += 1
                if self.counted[runner_id] > self.became[runner_id]:
                    yield f"{runner_id} became an orphan {self.became[runner_id]} times and was counted more often"
            case "orphan cleaned":
                if metrics["CleanupLatency"] < GRACE_SECONDS:
                    yield f"{runner_id} was stopped {metrics['CleanupLatency']} seconds after its suspicion"
            case "reconciliation" if about["outcome"] == "success":
                started = now - metrics["ReconciliationDuration"] / 1000
                before = started - GRACE_SECONDS - OVERDUE_SECONDS
                late = [each for each, since in self.since.items() if since < before and self._is_waiting(each)]
                checked = not any("the runners: deferred" in line for line in about["text"])
                if checked and late and not metrics["OrphanedRunnersOverdue"]:
                    yield f"a pass counted no overdue orphan, and {', '.join(late)} should have been stopped"
