"""What happens on GitHub and on EC2: runs and their jobs, launchers and their machines, installations that change."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from local.github.attempts import RERUN_CONCLUSIONS, jobs_of, rerun_failed_jobs
from local.github.records import Job, Runner
from tests.simulation.reconciler.machines import Machine
from tests.simulation.reconciler.troubles import MINUTE
from tests.simulation.reconciler.webhooks import ORGANISATIONS, Webhooks

REPOSITORIES = {501: ("acme/web", "acme/api"), 502: ("globex/app",), 503: ("mallory/prank",)}
RUNNER_TAG = {"runner": "yes"}
ACCOUNT = "123456789012"


class Lives(Webhooks):
    def begin(self, start: float) -> None:
        for installation_id, account in ORGANISATIONS.items():
            self.state.put("installations", installation_id, account=account, account_type="Organization")
        for _ in range(self.dice.randint(2, 6)):
            moment = self.dice.uniform(start, self.troubles.silent_at - 10 * MINUTE)
            self._later(moment, "", self._start_run)
        for _ in range(self.dice.choice((0, 1, 2))):
            self._later(self.dice.uniform(start, self.troubles.silent_at), "", self._launch_without_a_job)
        for _ in range(self.dice.choice((0, 0, 1))):
            self._later(self.dice.uniform(start, self.troubles.silent_at), "", self._prank)
        for _ in range(self.dice.choice((0, 0, 1, 1))):
            self._later(self.dice.uniform(start, self.troubles.silent_at), "", self._suspend)
        if self.dice.random() < 0.1:
            self._later(self.dice.uniform(start, self.troubles.silent_at), "", self._uninstall)

    # Runs and jobs

    def _start_run(self) -> None:
        installation_id = self.dice.choice((501, 501, 502))
        run_id, repository = self._number(), self.dice.choice(REPOSITORIES[installation_id])
        self.state.put("runs", run_id, repository=repository)
        for _ in range(self.dice.randint(1, 3)):
            status = "waiting" if self.dice.random() < 0.08 else "queued"
            job_id = self._number()
            self._put(job_id, run_id=run_id, status=status, created_at=self.github.time())
            if status == "waiting":
                self._in(self.dice.uniform(MINUTE, 30 * MINUTE), "", partial(self._approve, job_id))
            else:
                self._queue(job_id)

    def _put(self, job_id: int, **values: Any) -> Job:
        job = self.state.put("jobs", job_id, **values)
        assert isinstance(job, Job)
        self._tell_of(job)
        return job

    def _approve(self, job_id: int) -> None:
        self._put(job_id, status="queued")
        self._queue(job_id)

    def _queue(self, job_id: int) -> None:
        if self.dice.random() < 0.85:
            self._in(self.dice.uniform(5, 60), "", partial(self._launch_for, job_id))
        if self.dice.random() < 0.15:
            self._in(self.dice.uniform(MINUTE, 60 * MINUTE), "", partial(self._cancel, job_id))
        self._match()

    def _cancel(self, job_id: int) -> None:
        if self.state.jobs[job_id].status == "queued":
            now = self.github.time()
            self._put(job_id, status="completed", conclusion="cancelled", started_at=now, completed_at=now)
            self._ended(job_id)

    def _complete(self, job_id: int, machine: Machine | None, conclusion: str) -> None:
        if self.state.jobs[job_id].status != "in_progress":
            return
        self._put(job_id, status="completed", conclusion=conclusion, completed_at=self.github.time())
        if machine is not None and machine.job_id == job_id:
            machine.job_id = None
            self._release(machine)
        self._ended(job_id)

    def _ended(self, job_id: int) -> None:
        run = self.state.runs[self.state.jobs[job_id].run_id]
        jobs = jobs_of(self.state, run, run.run_attempt)
        if any(each.status != "completed" for each in jobs):
            return
        installation_id = self.installation_of(run.repository)
        if self.dice.random() < 0.6 and self._is_active(installation_id):
            self._send(
                "workflow_run", self.github.run_webhook(run, "completed", installation_id), f"run {run.id} ended"
            )
        if (
            run.run_attempt == 1
            and self.dice.random() < 0.15
            and any(job.conclusion in RERUN_CONCLUSIONS for job in jobs)
        ):
            self._in(self.dice.uniform(30, 600), f"run {run.id} is re-run", partial(self._rerun, run.id))

    def _rerun(self, run_id: int) -> None:
        rerun_failed_jobs(self.state, self.state.runs[run_id])
        run = self.state.runs[run_id]
        for job in jobs_of(self.state, run, run.run_attempt):
            self._tell_of(job)
            if job.status == "queued":
                self._queue(job.id)

    # Machines

    def _launch_for(self, job_id: int) -> None:
        job = self.state.jobs[job_id]
        if job.status == "queued":
            self._launch(self.state.runs[job.run_id].repository, job)

    def _launch_without_a_job(self) -> None:
        installation_id = self.dice.choice((501, 502))
        self._launch(self.dice.choice(REPOSITORIES[installation_id]), None)

    def _launch(self, repository: str, job: Job | None) -> None:
        dice, owner = self.dice, repository.partition("/")[0]
        tags = dict(RUNNER_TAG) if dice.random() < 0.85 else {}
        if dice.random() < 0.5:
            tags["ghr:Owner"] = dice.choice((owner, repository))
        if dice.random() < 0.08:
            tags["ghr:bypass-removal"] = "true"
        machine = Machine(f"i-{self._number():017x}", tags, self.world.now(), spot=dice.random() < 0.5)
        machine.facts = {
            "scope": dice.choice((owner, repository)),
            "name": f"runner-{machine.id}" if dice.random() < 0.95 else f"pool-{self._number()}",
            "ephemeral": bool(tags.get("runner")) or dice.random() < 0.3,
        }
        self.world.ec2.machines[machine.id] = machine
        self.world.tell(f"EC2: {machine.id} starts for job {job.id if job else None} with {tags}, {machine.facts}")
        if job is not None and dice.random() < 0.6:
            self._event(
                partial(self.world.launcher_event, self._scheduled(machine, repository, job)), "runner_scheduled"
            )
        self._event(partial(self.world.ec2_event, machine, "running"), f"{machine.id} runs")
        if dice.random() < 0.1:
            self._register(machine, status="offline")  # a just-in-time registration, before the machine has connected
        if dice.random() < 0.85:
            self._in(dice.uniform(20, 4 * MINUTE), "", partial(self._register, machine))
        elif dice.random() < 0.6:  # after it was suspected, or in the middle of its cleanup
            self._in(dice.uniform(8, 40) * MINUTE, "", partial(self._register, machine))

    def _event(self, act: Callable[[], None], about: str) -> None:
        if self.dice.random() >= self.troubles.events_lost:
            self.world.after(self.dice.choice((1, 3, 60, 900)), f"event: {about}", act)

    def _scheduled(self, machine: Machine, repository: str, job: Job) -> dict[str, Any]:
        detail = {
            "version": 1,
            "installation_id": self.installation_of(repository),
            "job_id": job.id,
            "run_id": job.run_id,
            "run_attempt": job.run_attempt,
            "repo_full_name": repository,
            "runner_id": machine.id,
            "kind": "ec2",
        }
        identity = {"id": f"event-{self._number()}", "source": "my.launcher", "account": ACCOUNT}
        return identity | {"detail-type": "runner_scheduled", "time": self.github.time(), "detail": detail}

    def _register(self, machine: Machine, status: str = "online") -> None:
        """A runner that has connected gets its first job a moment later."""
        if not machine.alive:
            return
        runner_id = self.runner_of(machine) or self._number()
        about = {"scope": machine.facts["scope"], "name": machine.facts["name"], "status": status}
        self.state.put("runners", runner_id, **about)
        self.by_runner[runner_id] = machine
        if status == "online":
            machine.facts["online"] = self.world.now()
            self.world.tell(f"GitHub: {machine.facts['name']} is online")
            self._in(self.dice.choice((0, 1, 20)), "", self._match)

    def _match(self) -> None:
        """GitHub gives queued jobs to idle runners of their scope."""
        for runner in list(self.state.runners.values()):
            machine = self.by_runner.get(runner.id)
            if machine is None or not machine.alive or runner.busy or runner.status == "offline":
                continue
            for job in list(self.state.jobs.values()):
                repository = self.state.runs[job.run_id].repository
                if job.status == "queued" and runner.scope in (repository, repository.partition("/")[0]):
                    self._start(job, runner, machine)
                    break

    def _start(self, job: Job, runner: Runner, machine: Machine) -> None:
        self.state.runners[runner.id] = replace(runner, busy=True)
        machine.job_id = job.id
        ran = {"runner_id": runner.id, "runner_name": runner.name, "runner_group_id": 1}
        self._put(job.id, status="in_progress", started_at=self.github.time(), **ran)
        seconds = self.dice.choice((40, 300, 1500, 3000)) * self.dice.uniform(0.5, 1)
        if machine.spot and self.dice.random() < 0.25:
            self._in(seconds / 2, f"EC2: {machine.id} dies", partial(self._die, machine))
        conclusion = self.dice.choice(("success", "success", "failure"))
        self._in(seconds, "", partial(self._complete, job.id, machine, conclusion))

    def runner_of(self, machine: Machine) -> int | None:
        return next(
            (each for each, its in self.by_runner.items() if its is machine and each in self.state.runners), None
        )

    def _release(self, machine: Machine) -> None:
        """After its job, an ephemeral runner leaves GitHub and its machine ends, unless something goes wrong."""
        runner_id = self.runner_of(machine)
        leaks = self.dice.random() < 0.3
        if runner_id is not None and (not machine.facts["ephemeral"] or (leaks and self.dice.random() < 0.6)):
            self.state.runners[runner_id] = replace(self.state.runners[runner_id], busy=False)
            self._match()
            return
        if runner_id is not None:
            self.state.remove("runners", runner_id)
        if not leaks and machine.facts["ephemeral"]:
            self._in(self.dice.uniform(5, 60), "", partial(self._end, machine))

    def _end(self, machine: Machine) -> None:
        if machine.alive:
            machine.end(self.world.now())
            self._event(partial(self.world.ec2_event, machine, "terminated"), f"{machine.id} ended")

    def _die(self, machine: Machine) -> None:
        if not machine.alive:
            return
        job_id, runner_id = machine.job_id, self.runner_of(machine)
        machine.job_id = None
        self._end(machine)
        if runner_id is not None:
            self.state.runners[runner_id] = replace(self.state.runners[runner_id], status="offline")
        if job_id is not None:
            self._in(self.dice.uniform(MINUTE, 15 * MINUTE), "", partial(self._complete, job_id, None, "failure"))

    def requested(self, job_id: int) -> None:
        """A launcher that follows `runner_requested`."""
        if self.dice.random() < 0.7:
            self._in(self.dice.uniform(5, 60), "", partial(self._launch_for, job_id))

    # Strangers and installations

    def _prank(self) -> None:
        """A job of another owner runs on a runner whose name contains the id of one of our machines."""
        machines = self._victims()
        if not machines:
            return
        victim, run_id, job_id, runner_id = self.dice.choice(machines), self._number(), self._number(), self._number()
        self.state.put("runs", run_id, repository="mallory/prank")
        self.state.put("runners", runner_id, scope="mallory/prank", name=f"x-{victim.id}", busy=True)
        ran = {"runner_id": runner_id, "runner_name": f"x-{victim.id}", "runner_group_id": 1}
        self._put(job_id, run_id=run_id, status="in_progress", started_at=self.github.time(), **ran)
        self._in(self.dice.uniform(60, 3000), "", partial(self._end_prank, job_id, runner_id))

    def _victims(self) -> list[Machine]:
        return [each for each in self.world.ec2.machines.values() if each.alive]

    def _end_prank(self, job_id: int, runner_id: int) -> None:
        self.state.remove("runners", runner_id)
        self._complete(job_id, None, "success")

    def _suspend(self) -> None:
        installation_id = self.dice.choice((501, 502, 503))
        if not self._is_active(installation_id):
            return
        now = self.github.time()
        self.state.put("installations", installation_id, suspended_at=now)
        self._change("suspend", installation_id, now)
        until = min(self.world.now() + self.dice.uniform(5, 60) * MINUTE, self.troubles.silent_at - 1)
        self._later(until, "", partial(self._unsuspend, installation_id, now))

    def _unsuspend(self, installation_id: int, since: str) -> None:
        if installation_id in self.state.installations:
            self.state.put("installations", installation_id, suspended_at=None)
            # GitHub writes the time of the suspension on both.
            self._change("unsuspend", installation_id, since)

    def _uninstall(self) -> None:
        installation_id = self.dice.choice((502, 503))
        payload = self.github.installation_webhook("deleted", installation_id, self.github.time())
        self.state.remove("installations", installation_id)
        self.world.tell(f"GitHub: installation {installation_id} is deleted")
        self._send("installation", payload, f"installation {installation_id} deleted", certain=True)

    def _change(self, action: str, installation_id: int, changed_at: str) -> None:
        self.world.tell(f"GitHub: {action} installation {installation_id}")
        payload = self.github.installation_webhook(action, installation_id, changed_at)
        self._send("installation", payload, f"installation {installation_id} {action}", certain=True)
