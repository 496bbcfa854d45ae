"""The functions behind the queues record events of launchers and AWS; an invalid message affects no other."""

import json
from decimal import Decimal
from typing import Any

import pytest
from runledger.model.errors import UnavailableError
from runledger.runners.prices import Prices
from runledger.tables.jobs import JobsTable

from tests.functions.conftest import World
from tests.support import runner_events
from tests.support.beds import dump, items
from tests.support.ledgers import EVENTS, JOBS, RUNNERS
from tests.support.runner_events import INSTANCE, batch
from tests.support.webhooks import COMPLETED, IN_PROGRESS, INSTALLATION, JOB, QUEUED, http_event, payload

TEN_O_CLOCK_MS = 1_736_935_200_123
GOOD: dict[str, list[Any]] = {"batchItemFailures": []}


def webhook(world: World, step: str, *, guid: str = "", **changes: Any) -> None:
    body = json.dumps(payload(step, **changes)).encode()
    at = TEN_O_CLOCK_MS + (150_000 if step == IN_PROGRESS else 0)
    event = http_event(body, guid=guid or f"guid of {step}", at_epoch_ms=at)
    assert world.invoke("webhook_intake", event)["statusCode"] == 202


def job(world: World, job_id: int = JOB) -> dict[str, Any]:
    return next(item for item in items(world.dynamodb, JOBS) if item["PK"] == f"{INSTALLATION}#{job_id}")


def history(world: World, job_id: int = JOB) -> list[str]:
    return [line["event_type"] for line in items(world.dynamodb, EVENTS) if line["PK"] == f"{INSTALLATION}#{job_id}"]


def test_a_job_with_a_runner_is_recorded_by_four_functions(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    webhook(world, QUEUED)
    assert world.invoke("scheduling_events", batch(runner_events.launcher("runner_scheduled"))) == GOOD
    assert job(world)["status"] == "scheduled"
    assert world.invoke("instance_state", batch(runner_events.instance_state("running"))) == GOOD
    webhook(world, IN_PROGRESS, runner_name=f"runs-on--{INSTANCE}--x")
    assert world.waiting("lookups") == []
    assert world.invoke("spot_interruption", batch(runner_events.rebalance(), runner_events.interruption())) == GOOD
    assert world.invoke("instance_state", batch(runner_events.instance_state("terminated", minute=7))) == GOOD
    assert (job(world)["status"], job(world)["was_interrupted"]) == ("in_progress", True)
    assert history(world) == [
        *("webhook_queued", "runner_scheduled", "runner_attached", "webhook_in_progress"),
        *("runner_rebalance_recommended", "runner_interrupted", "runner_terminated"),
    ]
    assert '"RunnersInterrupted":1,' in capsys.readouterr().out


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "another version": ({"version": 2}, "detail.version must be 1"),
    "true instead of a version": ({"version": True}, "detail.version must be 1"),
    "no runner": ({"runner_id": None}, "detail.runner_id is missing"),
    "a job that isn't a number": ({"job_id": "7"}, "detail.job_id must be a whole number"),
    "an unknown lifecycle": ({"instance_lifecycle": "rented"}, "detail.instance_lifecycle must be one of"),
    "a price of nothing": ({"price_per_hour": 0}, "detail.price_per_hour must be a price"),
}


@pytest.mark.parametrize(("changes", "reason"), BAD.values(), ids=BAD)
def test_an_event_that_does_not_fit_fails_alone_and_the_log_names_the_field(
    world: World, capsys: pytest.CaptureFixture[str], changes: dict[str, Any], reason: str
) -> None:
    bad = (
        runner_events.launcher("runner_scheduled", job_id=1, **changes)
        if "job_id" not in changes
        else (runner_events.launcher("runner_scheduled", **changes))
    )
    good = runner_events.launcher("runner_scheduled", job_id=2, runner_id="i-0bbbbbbbbbbbbbbb0")
    response = world.invoke("scheduling_events", batch(bad, good, "not JSON"))
    assert response == {"batchItemFailures": [{"itemIdentifier": "m0"}, {"itemIdentifier": "m2"}]}
    assert job(world, 2)["status"] == "scheduled"
    assert [item["PK"] for item in items(world.dynamodb, RUNNERS)] == ["i-0bbbbbbbbbbbbbbb0"]
    assert reason in capsys.readouterr().out


def launch_instance(world: World) -> str:
    """A real spot instance of moto's, as terraform-aws-github-runner would start one."""
    ec2 = world.client("ec2")
    tags = [{"Key": "pool", "Value": "small"}, {"Key": "runner", "Value": "yes"}]
    launched = ec2.run_instances(
        ImageId="ami-12c6146b",
        MinCount=1,
        MaxCount=1,
        InstanceType="c7g.large",
        TagSpecifications=[{"ResourceType": "instance", "Tags": tags}],
    )
    return str(launched["Instances"][0]["InstanceId"])


def schedule(world: World, instance_id: str, *, job_id: int) -> None:
    event = runner_events.launcher("runner_scheduled", job_id=job_id, runner_id=instance_id)
    assert world.invoke("scheduling_events", batch(event)) == GOOD


def test_aws_is_not_called_for_prices_that_a_launcher_reported(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[object] = []
    for call in ("_list_price", "_spot_price"):
        monkeypatch.setattr(Prices, call, lambda *arguments: calls.append(arguments))
    prices: dict[str, Any] = {
        "price_per_hour": 0.0334,
        "on_demand_price_per_hour": 0.0725,
        "availability_zone": "us-east-1a",
    }
    assert world.invoke("scheduling_events", batch(runner_events.launcher("runner_scheduled", **prices))) == GOOD
    recorded = job(world)
    assert (recorded["price_per_hour"], recorded["on_demand_price_per_hour"]) == (Decimal("0.0334"), Decimal("0.0725"))
    assert calls == []


def test_a_runner_without_launcher_events_is_found_by_its_name_and_ec2(world: World) -> None:
    instance_id = launch_instance(world)
    webhook(world, QUEUED)
    webhook(world, IN_PROGRESS, runner_name=f"gh-ci-{instance_id}")
    assert "instance_id" not in job(world)
    lookups = world.waiting("lookups")
    assert world.invoke("runner_lookup", {"Records": lookups}) == GOOD
    found = job(world)
    assert (found["instance_id"], found["instance_type"], found["pool_name"]) == (instance_id, "c7g.large", "small")
    assert found["instance_lifecycle"] == "on-demand"
    (runner,) = items(world.dynamodb, RUNNERS)
    assert (runner["PK"], runner["job_id"], runner["status"], runner["kind"]) == (instance_id, JOB, "active", "ec2")
    before = dump(world.dynamodb)
    assert world.invoke("runner_lookup", {"Records": lookups}) == GOOD
    assert dump(world.dynamodb) == before


def test_a_stolen_runner_is_in_both_histories_and_the_first_job_is_without_one_again(world: World) -> None:
    instance_id = launch_instance(world)
    for job_id in (1, 2):
        webhook(world, QUEUED, guid=f"queued {job_id}", job_id=job_id)
    world.invoke(
        "scheduling_events", batch(runner_events.launcher("runner_scheduled", job_id=1, runner_id=instance_id))
    )
    assert job(world, 1)["status"] == "scheduled"
    webhook(world, IN_PROGRESS, guid="started 2", job_id=2, runner_name=f"runner-{instance_id}")
    world.invoke("runner_lookup", {"Records": world.waiting("lookups")})
    assert (job(world, 1)["status"], "instance_id" in job(world, 1)) == ("queued", False)
    assert (job(world, 2)["status"], job(world, 2)["instance_id"]) == ("in_progress", instance_id)
    assert "runner_taken" in history(world, 1)
    assert "runner_attached" in history(world, 2)
    (runner,) = items(world.dynamodb, RUNNERS)
    assert (runner["intended_job_id"], runner["job_id"]) == (1, 2)


def schedule_on(world: World, instance_id: str, job_id: int, *, minute: int = 1) -> None:
    event = runner_events.launcher("runner_scheduled", job_id=job_id, runner_id=instance_id, minute=minute)
    assert world.invoke("scheduling_events", batch(event)) == GOOD


@pytest.mark.parametrize("is_planned", [False, True], ids=["without a plan", "with a plan of its own"])
def test_a_runner_that_is_reused_after_its_job_is_not_taken(world: World, is_planned: bool) -> None:
    instance_id = launch_instance(world)
    schedule_on(world, instance_id, 1)
    if is_planned:
        schedule_on(world, instance_id, 2, minute=2)
    for job_id, started in ((1, "10:02:30"), (2, "10:20:00")):
        about = {"started_at": f"2025-01-15T{started}Z", "runner_name": f"runner-{instance_id}"}
        webhook(world, IN_PROGRESS, guid=f"started {job_id}", job_id=job_id, **about)
        if lookups := world.waiting("lookups"):
            assert world.invoke("runner_lookup", {"Records": lookups}) == GOOD
    assert "runner_taken" not in history(world, 1) + history(world, 2)
    assert job(world, 1)["instance_id"] == job(world, 2)["instance_id"] == instance_id


def test_a_runner_is_not_taken_by_a_job_that_is_scheduled_on_it_too(world: World) -> None:
    """The job starts before the launcher's events arrive, and the last one is about the first job."""
    instance_id = launch_instance(world)
    webhook(world, IN_PROGRESS, guid="started 2", job_id=2, runner_name=f"runner-{instance_id}")
    assert world.invoke("runner_lookup", {"Records": world.waiting("lookups")}) == GOOD
    schedule_on(world, instance_id, 2, minute=2)
    schedule_on(world, instance_id, 1)
    assert "runner_taken" not in history(world, 1)
    assert (job(world, 1)["status"], job(world, 1)["instance_id"]) == ("scheduled", instance_id)


def test_a_scheduling_event_that_comes_after_the_theft_does_not_give_the_runner_back(world: World) -> None:
    instance_id = launch_instance(world)
    webhook(world, IN_PROGRESS, guid="started 2", job_id=2, runner_name=f"runner-{instance_id}")
    world.invoke("runner_lookup", {"Records": world.waiting("lookups")})
    webhook(world, QUEUED, guid="queued 1", job_id=1)
    world.invoke(
        "scheduling_events", batch(runner_events.launcher("runner_scheduled", job_id=1, runner_id=instance_id))
    )
    assert (job(world, 1)["status"], "instance_id" in job(world, 1)) == ("queued", False)
    assert job(world, 2)["instance_id"] == instance_id


def test_a_job_carried_over_by_a_partial_rerun_does_not_take_the_originals_runner(world: World) -> None:
    schedule(world, INSTANCE, job_id=1)
    webhook(
        world,
        COMPLETED,
        guid="carried over",
        job_id=2,
        run_attempt=2,
        created_at="2025-01-15T11:00:00Z",
        runner_name=f"runner-{INSTANCE}",
    )
    assert world.waiting("lookups") == []
    assert job(world, 1)["status"] == "scheduled"


def test_a_name_leads_to_no_machine_that_neither_aws_nor_a_launcher_has_reported(world: World) -> None:
    webhook(world, IN_PROGRESS, runner_name=f"x-{INSTANCE}")
    assert world.invoke("runner_lookup", {"Records": world.waiting("lookups")}) == GOOD
    assert "instance_id" not in job(world)
    (remembered,) = items(world.dynamodb, RUNNERS)
    assert not {"status", "installation_id", "job_id"} & remembered.keys()


def test_a_claim_that_came_before_the_launchers_event_ends_as_one_that_came_after(world: World) -> None:
    webhook(world, IN_PROGRESS, runner_name=f"x-{INSTANCE}")
    assert world.invoke("runner_lookup", {"Records": world.waiting("lookups")}) == GOOD
    schedule(world, INSTANCE, job_id=1)
    assert (job(world)["instance_id"], job(world)["pool_name"]) == (INSTANCE, "small-arm64")
    assert job(world, 1)["status"] == "queued"
    (runner,) = items(world.dynamodb, RUNNERS)
    assert (runner["job_id"], runner["intended_job_id"], runner["status"]) == (JOB, 1, "active")


def test_a_job_gets_the_launchers_facts_of_a_machine_that_is_gone(world: World) -> None:
    schedule(world, INSTANCE, job_id=1)
    webhook(world, IN_PROGRESS, runner_name=f"x-{INSTANCE}")
    assert world.invoke("runner_lookup", {"Records": world.waiting("lookups")}) == GOOD
    assert (job(world)["instance_id"], job(world)["instance_type"]) == (INSTANCE, "c7g.large")


def test_a_retried_message_takes_back_what_its_first_attempt_has_put(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    webhook(world, QUEUED)
    assert world.invoke("scheduling_events", batch(runner_events.launcher("runner_scheduled"))) == GOOD
    warning = batch(runner_events.interruption())

    def unavailable(*_: Any) -> None:
        raise UnavailableError("workflow_jobs")

    with monkeypatch.context() as outage:
        outage.setattr(JobsTable, "save", unavailable)
        assert world.invoke("spot_interruption", warning) == {"batchItemFailures": [{"itemIdentifier": "m0"}]}
    newer_plan = runner_events.launcher("runner_rescheduled", runner_id="i-0bbbbbbbbbbbbbbb0", minute=2)
    assert world.invoke("scheduling_events", batch(newer_plan)) == GOOD

    def changes() -> Any:
        (line,) = [each for each in items(world.dynamodb, EVENTS) if each["event_type"] == "runner_interrupted"]
        return line.get("changes")

    assert world.invoke("spot_interruption", warning) == GOOD
    assert changes(), "a first attempt doesn't look for leftovers"
    warning["Records"][0]["attributes"] = {"ApproximateReceiveCount": "2"}
    assert world.invoke("spot_interruption", warning) == GOOD
    assert changes() is None
