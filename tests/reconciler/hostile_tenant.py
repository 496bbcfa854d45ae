"""What a stranger does to machines that are not theirs: another tenant, with a genuine account and publisher."""

import contextlib
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from runledger.model.errors import NotYours
from runledger.model.follow_ups import RunnerLookup
from runledger.model.prices import Price
from runledger.runners.launcher_events import LauncherEvents
from runledger.runners.lookups import MachineLookups
from runledger.runners.publishers import Publisher, Publishers

from tests.reconciler.lives import Act, Trick
from tests.reconciler.stale_world import Registration, StaleWorld
from tests.reconciler.story import Story
from tests.reconciler.wiring import STRANGER, STRANGERS_REPO, runners_on
from tests.support import runner_events
from tests.support.ledgers import RememberedFollowUps, ledger_on
from tests.support.webhooks import COMPLETED, IN_PROGRESS, receipt

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

ACCOUNT, SOURCE = "999999999999", "mallory.launcher"
FIRST_ID = 660


@dataclass(frozen=True, slots=True, kw_only=True)
class HostileTenant:
    world: StaleWorld
    dynamodb: "DynamoDBClient"
    victim: Story

    def plan(self, number: int, act: Act) -> None:
        self.world.later(act.minute, partial(self._do, FIRST_ID + number, act))

    def _do(self, number: int, act: Act) -> None:
        match act.trick:
            case Trick.CLAIM:
                self._webhook(IN_PROGRESS, number)
            case Trick.FINISH:
                self._webhook(IN_PROGRESS, number)
                self._webhook(COMPLETED, number)
            case Trick.SCHEDULE:
                self._publish("runner_scheduled", number, trusted=act.trusted)
            case Trick.TERMINATE:
                self._publish("runner_terminated", number, trusted=act.trusted)
            case Trick.RENAME:
                name = f"x-{self.victim.instance_id}"
                registration = Registration(id=number, name=name, repo=STRANGERS_REPO)
                self.world.registrations[number] = registration
            case Trick.REPLAY:
                self.victim.replay(guid=f"replay {number}")

    def _webhook(self, step: str, number: int) -> None:
        name = f"x-{self.victim.instance_id}"
        ran: dict[str, Any] = {"runner_id": number, "runner_name": name, "started_at": self.world.clock.text()}
        if step == COMPLETED:
            ran["completed_at"] = self.world.clock.text()
        genuine = receipt(step, job_id=number, guid=f"{step} {number}", **ran)
        mine = replace(
            genuine,
            installation_id=STRANGER,
            received_at=self.world.clock.text(),
            facts=replace(genuine.facts, repo_full_name=STRANGERS_REPO, org_name=STRANGERS_REPO.partition("/")[0]),
        )
        follow_ups = RememberedFollowUps()
        ledger_on(self.dynamodb, follow_ups=follow_ups).record(mine)
        for job in follow_ups.lookups:
            lookup = RunnerLookup(
                installation_id=STRANGER,
                job_id=job.job_id,
                runner_id=self.victim.instance_id,
                kind="ec2",
                repo_full_name=STRANGERS_REPO,
                at=job.last_updated_at,
            )
            MachineLookups(
                tracker=runners_on(self.dynamodb), find_machine=self.victim.describe, find_price=lambda _: Price()
            ).look_up(lookup)

    def _publish(self, detail_type: str, number: int, *, trusted: bool) -> None:
        event = runner_events.launcher(
            detail_type,
            job_id=number,
            runner_id=self.victim.instance_id,
            installation_id=STRANGER,
            repo_full_name=STRANGERS_REPO,
        )
        event |= {"account": ACCOUNT, "source": SOURCE, "time": self.world.clock.text()}
        mine = Publisher(account=ACCOUNT, source=SOURCE, installations=frozenset({STRANGER}))
        events = LauncherEvents(
            tracker=runners_on(self.dynamodb),
            publishers=Publishers(own_account=runner_events.ACCOUNT, entries=(mine,) if trusted else ()),
            find_machine=self.victim.describe,
            find_price=lambda query: query.reported,
            github_account=lambda _: STRANGERS_REPO.partition("/")[0],
        )
        with contextlib.suppress(NotYours):
            events.record(event)
