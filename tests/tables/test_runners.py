"""What happens to a runner reaches its job, in any order with the webhooks of the job."""

import random
from collections.abc import Callable
from decimal import Decimal
from itertools import permutations
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from runledger.model import times
from runledger.model.follow_ups import RunnerLookup
from runledger.model.inputs import Lifecycle
from runledger.model.instance import Instance, RunnerKind
from runledger.model.ownership import Ruling
from runledger.model.prices import Price
from runledger.model.runner_names import INSTANCE_ID, TASK_ID
from runledger.recording.follow_up_queue import FollowUpQueue, lookup_from
from runledger.recording.ledger import Ledger
from runledger.runners import aws_events
from runledger.runners.lookups import MachineLookups
from runledger.runners.tracker import RunnerTracker
from runledger.tables.runners import RunnersTable

from tests.support import runner_events
from tests.support.beds import empty, items
from tests.support.ledgers import EVENTS, JOBS, RUNNERS, ledger_on
from tests.support.memory import in_memory
from tests.support.runner_events import INSTANCE, SCOPE
from tests.support.webhooks import COMPLETED, IN_PROGRESS, INSTALLATION, JOB, QUEUED, REPO, receipt

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

BOOKKEEPING = {"received_at", "last_updated_at", "version", "inputs", "ttl", "internal_queue_duration_in_ms"}
Step = Callable[[Ledger, RunnerTracker], object]


def no_price(_: object) -> Price:
    return Price()


def launcher(detail_type: str, **more: Any) -> Step:
    return lambda _, runners: runner_events.publish(runner_events.launcher(detail_type, **more), runners)


def aws(event: dict[str, Any]) -> Step:
    return lambda _, runners: aws_events.record(event, runners)


def webhook(step: str, **changes: Any) -> Step:
    at = {QUEUED: 0, IN_PROGRESS: 150, COMPLETED: 765}[step]
    return lambda ledger, _: ledger.record(receipt(step, at=at, **changes))


LIFE: dict[str, Step] = {
    "queued": webhook(QUEUED),
    "scheduled": launcher("runner_scheduled"),
    "attached": aws(runner_events.instance_state("running")),
    "in_progress": webhook(IN_PROGRESS),
    "interrupted": aws(runner_events.interruption()),
    "terminated": aws(runner_events.instance_state("shutting-down", minute=7)),
    "completed": webhook(COMPLETED, conclusion="failure"),
}


def play(dynamodb: "DynamoDBClient", steps: list[Step]) -> dict[str, Any]:
    ledger = ledger_on(dynamodb)
    runners = RunnerTracker(table=RunnersTable(dynamodb, RUNNERS, retention_days=14), record=ledger.record, scope=SCOPE)
    for step in steps:
        step(ledger, runners)
    return job(dynamodb)


def job(dynamodb: "DynamoDBClient", job_id: int = JOB) -> dict[str, Any]:
    return next(item for item in items(dynamodb, JOBS) if item["PK"] == f"{INSTALLATION}#{job_id}")


def essence(found: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in found.items() if name not in BOOKKEEPING}


def history(dynamodb: "DynamoDBClient", job_id: int = JOB) -> list[str]:
    return [line["event_type"] for line in items(dynamodb, EVENTS) if line["PK"] == f"{INSTALLATION}#{job_id}"]


@pytest.mark.walk
@in_memory
def test_any_order_of_runner_and_webhooks_ends_in_the_same_job(dynamodb: "DynamoDBClient") -> None:
    """A sample of the 5,040 orders, each with every event twice."""
    orders = random.Random(4).sample(list(permutations(LIFE)), 10)  # noqa: S311
    ended = []
    for order in [tuple(LIFE), tuple(reversed(LIFE)), *orders]:
        ended.append(essence(play(dynamodb, [LIFE[step] for step in (*order, *order)])))
        assert sorted(set(history(dynamodb))) == [
            *("runner_attached", "runner_interrupted", "runner_scheduled", "runner_terminated"),
            *("webhook_completed", "webhook_in_progress", "webhook_queued"),
        ]
        (runner,) = items(dynamodb, RUNNERS)
        assert (runner["status"], runner["job_id"], runner["pool_name"]) == ("cleaned", JOB, "small-arm64")
        empty(dynamodb)
    assert ended == [ended[0]] * len(ended)
    assert {
        "instance_id": INSTANCE,
        "instance_type": "c7g.large",
        "instance_lifecycle": "spot",
        "fleet_id": "fleet-1",
        "pool_name": "small-arm64",
        "scheduled_at": "2025-01-15T10:01:00.000Z",
        "was_interrupted": True,
        "status": "completed",
        "usage_in_seconds": 270,  # from 10:02:30 until the machine began to shut down at 10:07:00
        "usage_in_dollars": Decimal("0.002513"),
    }.items() <= ended[0].items()


def test_a_death_under_a_running_job_is_an_interruption_without_a_warning(dynamodb: "DynamoDBClient") -> None:
    steps = [LIFE[step] for step in ("queued", "scheduled", "in_progress", "terminated")]
    assert play(dynamodb, steps)["was_interrupted"] is True


def test_a_runner_that_goes_after_its_job_was_not_interrupted(dynamodb: "DynamoDBClient") -> None:
    """Also if the runner's end is recorded before the job's."""
    gone = aws(runner_events.instance_state("shutting-down", minute=13))
    scheduled, started, completed = (LIFE[step] for step in ("scheduled", "in_progress", "completed"))
    for steps in ([started, scheduled, gone, completed], [scheduled, started, completed, gone]):
        found = play(dynamodb, steps)
        assert found.get("was_interrupted") in (None, False)
        empty(dynamodb)


def test_a_rebalance_recommendation_is_history_only(dynamodb: "DynamoDBClient") -> None:
    before = essence(play(dynamodb, [LIFE["scheduled"]]))
    assert essence(play(dynamodb, [aws(runner_events.rebalance())])) == before
    assert history(dynamodb) == ["runner_scheduled", "runner_rebalance_recommended"]


def test_an_instance_without_a_job_changes_no_job(dynamodb: "DynamoDBClient") -> None:
    play(dynamodb, [LIFE["queued"], aws(runner_events.interruption(runner_id="i-0fffffffffffffff0"))])
    assert history(dynamodb) == ["webhook_queued"]


def test_the_last_scheduling_is_true_and_two_instances_never_mix(dynamodb: "DynamoDBClient") -> None:
    second = "i-0bbbbbbbbbbbbbbb0"
    first = launcher("runner_scheduled")
    again = launcher("runner_rescheduled", runner_id=second, minute=3, instance_type=None, pool_name=None)
    ended = []
    started, completed = (webhook(step, runner_name="office-1") for step in (IN_PROGRESS, COMPLETED))
    for steps in ([first, again], [again, first], [first, started, again], [completed, again, first]):
        found = play(dynamodb, steps)
        ended.append({name: found.get(name) for name in ("instance_id", "instance_type", "pool_name", "scheduled_at")})
        empty(dynamodb)
    assert ended == [
        {
            "instance_id": second,
            "instance_type": None,
            "pool_name": None,
            "scheduled_at": "2025-01-15T10:03:00.000Z",
        }
    ] * len(ended)


def test_the_machine_that_github_names_beats_every_plan(dynamodb: "DynamoDBClient") -> None:
    second = "i-0bbbbbbbbbbbbbbb0"
    named = launcher("runner_scheduled")
    newer = launcher("runner_rescheduled", runner_id=second, minute=3)
    for steps in permutations([named, newer, LIFE["in_progress"]]):
        found = play(dynamodb, [*steps])
        if steps[-1] is not LIFE["in_progress"]:  # else a lookup follows
            assert (found["instance_id"], found["scheduled_at"]) == (INSTANCE, "2025-01-15T10:01:00.000Z")
        empty(dynamodb)


def test_ecs_tasks_are_runners_and_their_spot_interruption_is_recognised(dynamodb: "DynamoDBClient") -> None:
    scheduled = launcher("runner_scheduled", runner_id=runner_events.TASK, kind="ecs", instance_type=None)
    stopped = runner_events.task_state(
        "STOPPED", minute=6, stopCode="SpotInterruption", stoppedReason="Your Spot Task was interrupted."
    )
    started = webhook(IN_PROGRESS, runner_name=f"task-{runner_events.TASK.rpartition('/')[2]}")
    found = play(dynamodb, [LIFE["queued"], scheduled, started, aws(stopped)])
    assert (found["instance_id"], found["was_interrupted"]) == (runner_events.TASK, True)
    (runner,) = items(dynamodb, RUNNERS)
    assert (runner["kind"], runner["status"], runner["terminated_reason"]) == (
        *("ecs", "cleaned"),
        "Your Spot Task was interrupted.",
    )


def test_a_runner_that_is_named_after_its_task_is_learnt_from_ecs(dynamodb: "DynamoDBClient") -> None:
    task_id = runner_events.TASK.rpartition("/")[2]
    sent: list[str] = []
    follow_ups = FollowUpQueue(
        SimpleNamespace(send_message=lambda **message: sent.append(message["MessageBody"])),  # type: ignore[arg-type]
        lookups_url="lookups",
        reruns_url="reruns",
        instance_pattern=INSTANCE_ID,
        task_pattern=TASK_ID,
    )
    ledger = ledger_on(dynamodb, follow_ups=follow_ups)
    ledger.record(receipt(IN_PROGRESS, runner_name=f"ecs-{task_id}"))
    (lookup,) = [lookup_from(each) for each in sent]
    task = Instance(
        runner_id=runner_events.TASK,
        kind=RunnerKind.ECS,
        state="running",
        lifecycle=Lifecycle.SPOT,
        tags={"runs-on-pool": "a"},
    )
    runners = RunnerTracker(table=RunnersTable(dynamodb, RUNNERS, retention_days=14), record=ledger.record, scope=SCOPE)
    looked_up: list[tuple[str, RunnerKind]] = []

    def describe(runner_id: str, kind: RunnerKind) -> Instance:
        looked_up.append((runner_id, kind))
        return task

    MachineLookups(tracker=runners, find_machine=describe, find_price=no_price).look_up(lookup)
    assert looked_up == [(task_id, RunnerKind.ECS)]
    assert (job(dynamodb)["instance_id"], job(dynamodb)["instance_lifecycle"]) == (runner_events.TASK, "spot")
    (runner,) = items(dynamodb, RUNNERS)
    assert (runner["PK"], runner["kind"], runner["job_id"]) == (runner_events.TASK, "ecs", JOB)


@pytest.mark.parametrize(
    ("seconds", "expected"), [(1, "0.000558"), (60, "0.000558"), (61, "0.000568"), (3600, "0.0335")]
)
def test_a_minute_is_billed_at_least(dynamodb: "DynamoDBClient", seconds: int, expected: str) -> None:
    end = f"2025-01-15T{10 + (150 + seconds) // 3600}:{(150 + seconds) % 3600 // 60:02}:{(150 + seconds) % 60:02}Z"
    found = play(dynamodb, [LIFE["scheduled"], webhook(COMPLETED, completed_at=end)])
    assert found["usage_in_dollars"] == Decimal(expected)


def test_a_job_that_never_ran_cost_nothing_and_an_unknown_price_is_absent(dynamodb: "DynamoDBClient") -> None:
    never = webhook(COMPLETED, conclusion="cancelled", runner_id=0, runner_name=None)
    assert play(dynamodb, [LIFE["scheduled"], never])["usage_in_dollars"] == 0
    empty(dynamodb)
    unknown = play(dynamodb, [launcher("runner_scheduled", price_per_hour=None), LIFE["completed"]])
    assert "usage_in_dollars" not in unknown


def test_a_runner_expires_after_its_end_and_not_after_its_launch(dynamodb: "DynamoDBClient") -> None:
    play(dynamodb, [LIFE["scheduled"], LIFE["attached"]])
    (active,) = items(dynamodb, RUNNERS)
    assert active["ttl"] == times.expiry("2025-01-15T10:02:00.000Z", 90)
    play(dynamodb, [LIFE["terminated"]])
    (gone,) = items(dynamodb, RUNNERS)
    assert gone["ttl"] == times.expiry("2025-01-15T10:07:00.000Z", 14)


def test_a_rejected_claim_on_the_machine_of_a_named_owner_leaves_nothing(dynamodb: "DynamoDBClient") -> None:
    def claimed(_: Ledger, runners: RunnerTracker) -> None:
        tags = {"ghr:Application": "github-action-runner", "ghr:Owner": "another-owner"}
        machine = Instance(runner_id=INSTANCE, kind=RunnerKind.EC2, state="running", tags=tags)
        lookup = RunnerLookup(
            installation_id=INSTALLATION,
            job_id=JOB,
            runner_id=INSTANCE,
            kind="ec2",
            repo_full_name=REPO,
            at="2025-01-15T10:02:31.000Z",
        )
        assert (
            MachineLookups(tracker=runners, find_machine=lambda *_: machine, find_price=no_price).look_up(lookup)
            is Ruling.REJECT
        )

    assert "instance_id" not in play(dynamodb, [LIFE["in_progress"], claimed])
    assert items(dynamodb, RUNNERS) == []


def test_a_job_that_lost_its_runner_does_not_follow_an_older_plan(dynamodb: "DynamoDBClient") -> None:
    thief, older = JOB + 1, launcher("runner_scheduled", runner_id="i-0bbbbbbbbbbbbbbb0", minute=0)

    def taken(_: Ledger, runners: RunnerTracker) -> None:
        found = RunnerLookup(
            installation_id=INSTALLATION,
            job_id=thief,
            runner_id=INSTANCE,
            kind="ec2",
            repo_full_name=None,
            at="2025-01-15T10:02:31.000Z",
            started_at="2025-01-15T10:02:30.000Z",
        )
        MachineLookups(tracker=runners, find_machine=lambda *_: None, find_price=no_price).look_up(found)

    for steps in ([LIFE["scheduled"], taken, older], [older, LIFE["scheduled"], taken]):
        found = play(dynamodb, steps)
        assert (found["status"], found.get("instance_id")) == ("queued", None)
        empty(dynamodb)
