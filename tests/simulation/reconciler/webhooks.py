"""Webhooks of GitHub, with the fate that a world has for each: lost, late, doubled, or failed and in the log."""

import json
import random
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from local.github.records import Job
from tests.simulation.reconciler.troubles import MINUTE, Troubles
from tests.simulation.reconciler.world import World

if TYPE_CHECKING:
    from tests.simulation.reconciler.machines import Machine

ORGANISATIONS = {501: "acme", 502: "globex", 503: "mallory"}


class Webhooks:
    """Everything random comes from the world's own dice; nothing begins after the world has fallen silent."""

    def __init__(self, world: World, dice: random.Random) -> None:
        self.world, self.dice = world, dice
        self.troubles: Troubles = world.troubles
        self.github, self.state = world.github, world.github.state
        self.by_runner: dict[int, Machine] = {}
        self.statuses: dict[int, float] = {}  # when a job's status last changed
        self._numbers = 0

    def _later(self, moment: float, name: str, action: Callable[[], None]) -> None:
        if moment < self.troubles.silent_at:
            self.world.at(moment, name, action)

    def _in(self, seconds: float, name: str, action: Callable[[], None]) -> None:
        self._later(self.world.now() + seconds, name, action)

    def _number(self) -> int:
        self._numbers += 1
        return 1000 + self._numbers

    def _send(self, event: str, payload: dict[str, Any], about: str, *, certain: bool = False) -> None:
        """Send it with the fate that this world has for it. `certain` ones are at least in the log of deliveries."""
        t, guid, body = self.troubles, f"guid-{self._number()}", json.dumps(payload).encode()
        deliver = partial(self.github.deliveries.deliver, event, body, guid)
        fate = self.dice.random()
        if fate < t.never_sent and not certain:
            self.world.tell(f"never sent: {about}")
            return
        delay = self.dice.uniform(0.5, 5)
        if self.dice.random() < t.late:
            delay = min(self.dice.uniform(MINUTE, 60 * MINUTE), max(delay, t.silent_at - self.world.now() - 1))
        if self.dice.random() < t.failed:
            # GitHub's log has it, so it can be redelivered.
            self.world.after(delay, "", partial(self._fail, event, body, guid, about))
            return
        self.world.after(delay, f"webhook: {about}", deliver)
        if self.dice.random() < t.doubled:
            again = guid if self.dice.random() < 0.5 else f"{guid}-of-another-hook"
            repeat = partial(self.github.deliveries.deliver, event, body, again)
            self.world.after(delay + self.dice.uniform(0, 30), f"webhook again: {about}", repeat)

    def _fail(self, event: str, body: bytes, guid: str, about: str) -> None:
        self.world.tell(f"not delivered: {about}")
        self.github.deliveries.log_failure(event, body, guid)

    def _tell_of(self, job: Job) -> None:
        self.statuses[job.id] = self.world.now()
        installation_id = self.installation_of(self.state.runs[job.run_id].repository)
        if self._is_active(installation_id):
            about = f"job {job.id} of run {job.run_id} is {job.status}"
            self.world.tell(f"GitHub: {about} ({job.conclusion}) on {job.runner_name}")
            self._send("workflow_job", self.github.job_webhook(job, installation_id), about)
        else:
            self.world.tell(f"GitHub: job {job.id} is {job.status} ({job.conclusion}), and sends nothing")

    @staticmethod
    def installation_of(repository: str) -> int:
        return next(each for each, name in ORGANISATIONS.items() if name == repository.partition("/")[0])

    def _is_active(self, installation_id: int) -> bool:
        found = self.state.installations.get(installation_id)
        return found is not None and not found.suspended_at
