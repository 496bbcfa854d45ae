"""The events of complete jobs, each in its own run."""

from __future__ import annotations

import copy
import itertools
import json
from dataclasses import dataclass, field
from typing import Any

from local.github.examples import payloads
from tests.support import messages, runner_events
from tests.support.webhooks import RAN_ON, http_event, payload

Step = tuple[str, dict[str, Any]]

TEN_O_CLOCK_MS = 1_736_935_200_123
# Webhooks contain custom properties only if the organisation defines them. They increase the size of an item.
WITH_PROPERTIES = payload("queued")
TYPICAL = copy.deepcopy(WITH_PROPERTIES) | {"repository": WITH_PROPERTIES["repository"] | {"custom_properties": {}}}
SECONDS = {"queued": 1, "waiting": 5, "queued again": 9, "in_progress": 151, "completed": 766}
_numbers = itertools.count(1)


def examples() -> list[dict[str, Any]]:
    """GitHub's examples, without the duplicates for GHES."""
    found = {json.dumps(example, sort_keys=True): example for example in payloads("workflow_job")}
    return list(found.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """`number` determines the ids. Their width is fixed and they never end in 0, so all items have one size."""

    example: dict[str, Any] = field(default_factory=lambda: TYPICAL)
    number: int = field(default_factory=lambda: next(_numbers))
    run_number: int = field(default=0)

    @property
    def job_id(self) -> int:
        return 12_877_000_001 + 10 * self.number

    @property
    def run_id(self) -> int:
        return 4_747_000_001 + 10 * (self.run_number or self.number)

    @property
    def installation_id(self) -> int:
        """0 for a hook without an App, whose payload has no installation."""
        return int((self.example.get("installation") or {"id": 0})["id"])

    @property
    def instance_id(self) -> str:
        return f"i-0abc{self.number:013x}"

    def webhook(self, step: str, *, again: int = 0, hook: int = 0, **changes: Any) -> Step:
        """`again` is a redelivery after a second. Another `hook` sends a different body with another delivery id."""
        if hook:
            changes = {"check_run_url": f"hook {hook}", **changes}
        body = json.dumps(self.message(step, **changes)).encode()
        at = TEN_O_CLOCK_MS + 1000 * (SECONDS[step] + again + hook)
        guid = f"{self.number:08d}-cc78-11e3-{hook:04d}-{SECONDS[step]:012d}"
        return "webhook_intake", http_event(body, guid=guid, at_epoch_ms=at)

    def message(self, step: str, **changes: Any) -> dict[str, Any]:
        message = copy.deepcopy(self.example)
        message["action"] = action = step.partition(" ")[0]
        message["workflow_job"] |= {
            "id": self.job_id,
            "run_id": self.run_id,
            "status": action,
            "conclusion": None,
            "completed_at": None,
            "created_at": "2025-01-15T10:00:00Z",
            "started_at": "2025-01-15T10:00:00Z",
            "runner_id": None,
            "runner_name": None,
            "runner_group_id": None,
        }
        if step == "queued again":
            message["deployment"] = {"id": 875_000_001 + 10 * self.number, "environment": "production"}
        if action in ("in_progress", "completed"):
            ran_on = RAN_ON | {"runner_name": f"runs-on--{self.instance_id}--x", "started_at": "2025-01-15T10:02:30Z"}
            message["workflow_job"] |= ran_on
        if action == "completed":
            message["workflow_job"] |= {"completed_at": "2025-01-15T10:12:45Z", "conclusion": "success"}
        message["workflow_job"] |= changes
        return message

    def run_requested(self) -> Step:
        """The webhook about the job's run."""
        event, message = messages.run("requested", run_id=self.run_id)
        message |= {name: self.example[name] for name in ("installation", "repository") if name in self.example}
        return "webhook_intake", http_event(
            json.dumps(message).encode(), event=event, guid=f"run-{self.run_id}", at_epoch_ms=TEN_O_CLOCK_MS
        )

    def launcher(self, detail_type: str = "runner_scheduled") -> dict[str, Any]:
        return runner_events.launcher(
            detail_type,
            job_id=self.job_id,
            runner_id=self.instance_id,
            run_id=self.run_id,
            installation_id=self.installation_id,
            repo_full_name=self.example["repository"]["full_name"],
        )

    def scheduled(self) -> Step:
        return "scheduling_events", runner_events.batch(self.launcher())

    def instance(self, state: str, *, minute: int) -> Step:
        event = runner_events.instance_state(state, runner_id=self.instance_id, minute=minute)
        return "instance_state", runner_events.batch(event)

    def warned(self) -> Step:
        event = runner_events.interruption(runner_id=self.instance_id, minute=5)
        return "spot_interruption", runner_events.batch(event)


def normal(life: Life) -> list[Step]:
    """The job of the original estimate."""
    return [life.webhook("queued"), life.scheduled(), life.webhook("in_progress"), life.webhook("completed")]


def without_launcher(life: Life) -> list[Step]:
    """On a runner whose name contains no instance id."""
    office: dict[str, Any] = {"runner_name": "office-1"}
    return [life.webhook("queued"), life.webhook("in_progress", **office), life.webhook("completed", **office)]


def cancelled(life: Life) -> list[Step]:
    """Cancelled in the queue, without a runner."""
    no_runner: dict[str, Any] = {
        "conclusion": "cancelled",
        "runner_id": None,
        "runner_name": None,
        "runner_group_id": None,
    }
    return [life.webhook("queued"), life.webhook("completed", **no_runner)]


def waiting(life: Life) -> list[Step]:
    """Waits for an approval."""
    return [*normal(life)[:1], life.webhook("waiting"), life.webhook("queued again"), *normal(life)[1:]]


def redelivered(life: Life) -> list[Step]:
    """GitHub sends every webhook twice."""
    steps = [life.webhook("queued"), life.webhook("queued", again=1), life.scheduled()]
    for step in ("in_progress", "completed"):
        steps += [life.webhook(step), life.webhook(step, again=1)]
    return steps


def interrupted(life: Life) -> list[Step]:
    """The instance starts, is interrupted, and terminates before the job completes."""
    return [
        life.webhook("queued"),
        life.scheduled(),
        life.instance("running", minute=2),
        life.webhook("in_progress"),
        life.warned(),
        life.instance("terminated", minute=7),
        life.webhook("completed", conclusion="failure"),
    ]


LIVES = {
    "normal": normal,
    "without_launcher": without_launcher,
    "cancelled": cancelled,
    "waiting": waiting,
    "redelivered": redelivered,
    "interrupted": interrupted,
}
