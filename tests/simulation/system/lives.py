"""What happens on GitHub, EC2 and ECS in a world of the whole system.

Adds to the lives of the reconciler's worlds: tasks on ECS, spot warnings, standby machines, launchers that describe
their machines, re-runs by the ledger, people and replays.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from local.github.attempts import RERUN_CONCLUSIONS, jobs_of, rerun_failed_jobs
from local.github.records import Job, Runner
from tests.simulation.reconciler.machines import Machine
from tests.simulation.reconciler.troubles import MINUTE
from tests.simulation.reconciler.webhooks import ORGANISATIONS
from tests.simulation.reconciler.world import START
from tests.simulation.system import people
from tests.simulation.system.machine_lives import MachineLives, Part, Run
from tests.simulation.system.plan import QUICK_SECONDS

RERUNS = "re-runs by the ledger"


class SystemLives(MachineLives):
    def begin(self, start: float) -> None:
        for installation_id, account in ORGANISATIONS.items():
            self.state.put("installations", installation_id, account=account, account_type="Organization")
        beginnings: dict[str, Callable[[], None]] = {
            "run": self._start_run,
            "spare": self._launch_without_a_job,
            "prank": self._prank,
            "suspension": self._suspend,
            "uninstallation": self._uninstall,
            "person": self._look,
            "replay": self._replay,
        }
        for number, name in enumerate(self.plan.parts):
            kind = name.partition(" ")[0]
            if kind in beginnings:
                # A part that is left out must not change the numbers of the others.
                part = Part(self.plan.dice(name), 1000 * (100 * list(beginnings).index(kind) + int(name.split()[1])))
                earliest = start + 15 * MINUTE if kind in ("person", "replay") else start
                moment = part.dice.uniform(earliest, self.plan.silent_at - 5 * MINUTE)
                self._continue(part, partial(self._later, moment, "", beginnings[kind]))
            elif kind == "pass":
                self._schedule(int(name.partition(" ")[2]), number)

    def _schedule(self, tick: int, _: int) -> None:
        dice = self.plan.dice(f"pass {tick}")
        moment = START + tick * QUICK_SECONDS + dice.uniform(0, 60)
        kinds = ["full"] if tick % 3 == 0 else ["quick"]
        kinds += dice.choice(([], [], [], ["quick"], ["full"]))
        for number, kind in enumerate(kinds):
            event = {"pass": kind, "id": f"{tick:06}-{number}"}
            about = f"{kind} pass {tick}" + ("" if number == 0 else " at the same time")
            if number:
                self.world.counts["passes that overlap"] += 1
            self.world.at(moment, "", partial(self.world.invoke, "reconciler", event, about=about))

    # Webhooks

    def _send(self, event: str, payload: dict[str, Any], about: str, *, certain: bool = False) -> None:
        before = len(self.world.story)
        super()._send(event, payload, about, certain=certain)
        if event == "workflow_job" and "hook 1" in self.plan.parts:
            # The organisation's own hook sends the same facts, without an installation.
            self.world.counts["webhooks of a second hook"] += 1
            copy = {name: value for name, value in payload.items() if name != "installation"}
            super()._send(event, copy, f"{about}, by the organisation's own hook")
        if any("never sent" in line for line in self.world.story[before:]):
            self.world.counts["webhooks never sent"] += 1

    def _fail(self, event: str, body: bytes, guid: str, about: str) -> None:
        self.world.counts["webhooks that failed"] += 1
        self.world.tell(f"not delivered: {about}")
        self.world.log_attempt(event, body, guid, delivered=False)

    def _replay(self) -> None:
        """The same body again: by GitHub's own redelivery, or under another id by an attacker who has recorded it."""
        rows = self.state.deliveries
        if not rows:
            return
        row = self.dice.choice(rows)
        guid = row.guid if self.dice.random() < 0.3 else f"{row.guid}-replayed"
        self.world.counts["replays"] += 1
        self.world.tell(f"{row.guid} is replayed as {guid}")
        self.github.deliveries.deliver(row.event, row.body, guid)

    # Jobs

    def _approve(self, job_id: int) -> None:
        self.world.counts["approvals"] += 1
        super()._approve(job_id)

    def _queue(self, job_id: int) -> None:
        super()._queue(job_id)
        if self.dice.random() < 0.25:  # the launcher tries again with another machine
            self._in(self.dice.uniform(MINUTE, 5 * MINUTE), "", partial(self._launch_for, job_id))

    def _start(self, job: Job, runner: Runner, machine: Machine) -> None:
        counts, truth = self.world.counts, self.truth
        planned_for = [each for each, machines in truth.planned.items() if machine.id in machines]
        if planned_for and job.id not in planned_for:
            counts["thefts"] += 1
        if any(each.machine is machine for each in truth.ran.values()):
            counts["reused machines"] += 1
        truth.ran[job.id] = Run(machine, self.world.now())
        super()._start(job, runner, machine)
        if self.dice.random() < 0.15:
            self._in(self.dice.uniform(30, 10 * MINUTE), f"AWS: {machine.id} dies", partial(self._die, machine))

    def _complete(self, job_id: int, machine: Machine | None, conclusion: str) -> None:
        if self.state.jobs[job_id].status == "in_progress" and job_id in self.truth.ran:
            self.truth.ran[job_id].until = self.world.now()
        super()._complete(job_id, machine, conclusion)

    def rerun(self, run_id: int) -> None:
        """The ledger has requested it."""
        self.world.counts[RERUNS] += 1
        self._announce_attempt(run_id)

    def _rerun(self, run_id: int) -> None:
        run = self.state.runs[run_id]
        before = jobs_of(self.state, run, run.run_attempt)
        if run.run_attempt > 1 or any(each.status != "completed" for each in before):
            return
        if not any(each.conclusion in RERUN_CONCLUSIONS for each in before):
            return
        self.world.counts["re-runs by people"] += 1
        rerun_failed_jobs(self.state, run)
        self._announce_attempt(run_id)

    def _announce_attempt(self, run_id: int) -> None:
        run = self.state.runs[run_id]
        jobs = jobs_of(self.state, run, run.run_attempt)
        if any(each.status == "completed" for each in jobs):
            self.world.counts["partial re-runs"] += 1
        for each in jobs:
            # A carried-over job is created now, with the times of the original.
            job = replace(each, created_at=self.github.time()) if each.status == "completed" else each
            self.state.jobs[job.id] = job
            self._tell_of(job)
        for job in jobs:
            if self.state.jobs[job.id].status == "queued":
                self._queue(job.id)

    # Machines

    def _look(self) -> None:
        token = self.dice.choice((people.OPERATOR, people.OPERATOR_OF_ONE))
        people.look_for_orphans(self.world, token)
        self._in(self.dice.uniform(MINUTE, 10 * MINUTE), "", self._look)

    def _prank(self) -> None:
        if self._victims():
            self.world.counts["claims by strangers"] += 1
            super()._prank()

    def _victims(self) -> list[Machine]:
        """Rather machines whose owner is not proven: they become contested."""
        proven = {each for planned in self.truth.planned.values() for each in planned}
        alive = super()._victims()
        return [each for each in alive if "ghr:Owner" not in each.tags and each.id not in proven] or alive

    def _suspend(self) -> None:
        self.world.counts["suspensions"] += 1
        super()._suspend()

    def _uninstall(self) -> None:
        self.world.counts["uninstallations"] += 1
        super()._uninstall()
