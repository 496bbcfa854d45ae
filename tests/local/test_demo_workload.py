"""The demo sends what GitHub, a launcher and EC2 would send, and the simulated GitHub has the final states."""

import json
from collections import Counter
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import pytest
from jsonschema import Draft202012Validator, FormatChecker
from referencing import Registry, Resource
from runledger.model.inputs import Receipt
from runledger.model.reports import RunReport
from runledger.webhooks.delivery import Delivery as Received
from runledger.webhooks.readers import dispatcher

from local import ROOT
from local.demo.github_records import records
from local.demo.machines import Machines, registrations
from local.demo.payloads.entities import Delivery, Job, Run, Subject
from local.demo.player import chapters
from local.demo.scenarios.catalogue import all_steps
from local.demo.steps import Awaited, BusEvent, bus_events, deliveries
from local.github import records as github
from tests.local.webhook_schemas import faults

NOW = datetime(2025, 1, 15, 10, tzinfo=UTC)
MACHINES = Machines(**{each.name: f"i-{number:017x}" for number, each in enumerate(fields(Machines))})
STEPS = all_steps(NOW, machines=MACHINES)
LIVES = deliveries(STEPS)
EVENTS = bus_events(STEPS)
SCHEMA = json.loads((ROOT / "docs" / "scheduling-event.v1.schema.json").read_text())
REGISTRY: Registry[Any] = Resource.from_contents(SCHEMA) @ Registry()

Kind = TypeVar("Kind", bound=github.Record)


def _received(sent: Delivery) -> Received:
    return Received(
        event=sent.event,
        delivery_id=sent.delivery_id,
        body=json.dumps(sent.payload).encode(),
        received_at="2025-01-15T10:00:00.000Z",
        received_by="a-log-stream",
    )


def test_the_same_moment_and_seed_give_the_same_jobs() -> None:
    assert all_steps(NOW, machines=MACHINES) == STEPS
    assert all_steps(NOW, seed=2, machines=MACHINES) != STEPS


@pytest.mark.parametrize("event", sorted({each.event for each in LIVES}))
def test_payloads_have_the_shape_that_github_describes(event: str) -> None:
    assert [fault for each in LIVES if each.event == event for fault in faults(event, each.payload)] == []


def test_a_payload_with_a_wrong_shape_is_rejected_by_the_check() -> None:
    damaged = next(each.payload for each in LIVES if each.event == "workflow_run") | {"workflow_run": {"id": "one"}}
    assert faults("workflow_run", damaged)


def test_intake_reads_every_delivery() -> None:
    for each in LIVES:
        assert [record.installation_id for record in dispatcher.read(_received(each))] == [each.installation_id]


def test_every_job_whose_run_is_known_has_a_workflow_id() -> None:
    read = [record for each in LIVES for record in dispatcher.read(_received(each))]
    workflows: dict[tuple[int, int | None, int | None], int | None] = {
        (record.installation_id, record.run_id, record.run_attempt): record.workflow_id
        for record in read
        if isinstance(record, RunReport)
    }
    runs_of_jobs = {
        (record.installation_id, record.facts.run_id, record.facts.run_attempt)
        for record in read
        if isinstance(record, Receipt)
    }
    assert len(runs_of_jobs & workflows.keys()) > 30
    assert [run for run in runs_of_jobs & workflows.keys() if not workflows[run]] == []


def test_nothing_is_sent_from_the_future_and_a_redelivery_keeps_its_id() -> None:
    assert max(each.sent_at for each in STEPS) <= NOW
    assert sorted(Counter(each.delivery_id for each in LIVES).values())[-4:] == [1, 2, 2, 2]


def test_webhooks_arrive_within_a_second_and_exactly_one_arrives_late() -> None:
    redelivered = {each for each, number in Counter(each.delivery_id for each in LIVES).items() if number > 1}
    arrived = [each for each in LIVES if not (each.lost or each.failed or each.delivery_id in redelivered)]
    late = [each for each in arrived if each.received_at - each.happened_at >= timedelta(seconds=1)]
    assert [(each.payload["action"], each.subject.name) for each in late if isinstance(each.subject, Job)] == [
        ("queued", "smoke tests")
    ]
    assert len(late) == 1
    assert late[0].received_at - late[0].happened_at > timedelta(minutes=1)
    assert all(each.received_at > each.happened_at for each in arrived)


def test_the_copy_of_a_partial_re_run_has_the_times_of_the_original() -> None:
    jobs = [each.payload["workflow_job"] for each in LIVES if each.event == "workflow_job"]
    (copy,) = [job for job in jobs if job["completed_at"] and job["completed_at"] < job["created_at"]]
    original = next(job for job in jobs if job["name"] == copy["name"] and job["completed_at"] == copy["completed_at"])
    assert (copy["run_id"], copy["run_attempt"], copy["started_at"]) == (
        original["run_id"],
        original["run_attempt"] + 1,
        original["started_at"],
    )


def test_every_run_begins_and_ends_only_with_its_last_job() -> None:
    sent: dict[Run, list[Delivery]] = {}
    for each in LIVES:
        if isinstance(each.subject, Run):
            sent.setdefault(each.subject, []).append(each)
    assert all(run[0].payload["action"] == "requested" for run in sent.values())
    finished = {run.id for run, deliveries in sent.items() if deliveries[-1].payload["action"] == "completed"}
    open_jobs = [job for job in _known(github.Job) if job.status != "completed"]
    assert open_jobs
    assert not finished & {job.run_id for job in open_jobs}


def test_github_has_the_end_of_the_job_whose_webhook_was_lost_and_of_its_run() -> None:
    lost = [each.subject for each in LIVES if each.lost]
    assert [type(each) for each in lost] == [Job, Run]
    (job,) = [job for job in _known(github.Job) if job.id == lost[0].id]
    (run,) = [run for run in _known(github.Run) if run.id == lost[1].id]
    assert (job.status, job.conclusion) == (run.status, run.conclusion) == ("completed", "failure")


def test_github_has_the_end_of_the_job_whose_delivery_failed_and_sends_that_of_its_run() -> None:
    (failed,) = [each.subject for each in LIVES if each.failed]
    assert isinstance(failed, Job)
    assert {job.status for job in _known(github.Job) if job.id == failed.id} == {"completed"}
    arrived = [each for each in LIVES if each.subject == failed.run and not (each.lost or each.failed)]
    assert arrived[-1].payload["action"] == "completed"


def test_github_has_the_last_state_of_jobs_whose_deliveries_came_late_or_twice() -> None:
    for name in ("smoke tests", "package"):
        assert {job.status for job in _known(github.Job) if job.name == name} == {"completed"}


def test_github_has_the_reviewers_of_waiting_deployments() -> None:
    assert sorted((each.awaits_approval, each.statuses[-1]["state"]) for each in _known(github.Deployment)) == [
        (False, "failure"),
        (False, "success"),
        (True, "waiting"),
        (True, "waiting"),
    ]


def test_an_installation_that_was_deleted_is_gone_from_github() -> None:
    assert {each.account for each in _known(github.Installation)} == {"acme", "globex"}


def test_what_the_launcher_publishes_fits_the_schema() -> None:
    published = [each for each in EVENTS if not each.from_aws]
    assert {each.detail_type for each in published} == {"runner_scheduled", "runner_rescheduled"}
    for each in published:
        part = {"$ref": f"{SCHEMA['$id']}#/$defs/{each.detail_type}"}
        Draft202012Validator(part, registry=REGISTRY, format_checker=FormatChecker()).validate(each.detail)


def test_a_runner_is_launched_between_the_queue_and_the_start_of_its_job_and_goes_after_it() -> None:
    for job in {each.subject for each in EVENTS if each.detail_type == "runner_scheduled"} - _in_trouble():
        times = {each.payload["action"]: each.happened_at for each in LIVES if each.subject == job and _of_job(each)}
        scheduled, running, *gone = [each.sent_at for each in EVENTS if each.subject == job]
        assert times["queued"] < scheduled < running
        if "in_progress" in times:  # the machine of one job is taken away before its runner registers
            assert running < times["in_progress"]
        assert [times["completed"] < at for at in gone] == [True] * ("completed" in times)


def test_the_interrupted_job_ends_on_github_before_its_run_is_re_run() -> None:
    (rerun,) = [each for each in STEPS if isinstance(each, Awaited) and each.attribute == "rerun_result"]
    life = [each for each in STEPS if _run_id(each.subject) == rerun.subject.run.id]
    before = [step for chapter in list(chapters(life))[:-1] for step in chapter if step.sent_at <= rerun.sent_at]
    assert {(each.status, each.conclusion) for each in _records(github.Job, deliveries(before))} == {
        ("completed", "failure")
    }
    (run,) = _records(github.Run, deliveries(before))
    assert (run.run_attempt, run.status, run.conclusion) == (1, "completed", "failure")
    (run,) = _records(github.Run, deliveries(life))
    assert (run.run_attempt, run.status, run.conclusion) == (2, "completed", "success")


def test_a_machine_that_is_left_over_has_events_of_its_job_and_none_of_its_end() -> None:
    for machine in (MACHINES.outlived, MACHINES.busy):
        events = [each for each in EVENTS if each.runner_id == machine]
        assert [each.detail.get("state", each.detail_type) for each in events] == ["runner_scheduled", "running"]
        (job,) = {each.subject for each in events}
        assert {each.status for each in _known(github.Job) if each.id == job.id} == {"completed"}


def test_machines_without_a_job_have_no_events() -> None:
    assert not {MACHINES.unclaimed, MACHINES.foreign} & {each.runner_id for each in EVENTS}


def test_github_lists_a_runner_under_the_id_and_name_in_its_jobs() -> None:
    registered = {(each.id, each.name) for each in registrations(MACHINES)}
    reported = [each.payload["workflow_job"] for each in LIVES if each.event == "workflow_job"]
    assert len(registered & {(job["runner_id"], job["runner_name"]) for job in reported}) == len(registered) - 1
    idle = {each.name for each in registrations(MACHINES) if not each.busy}
    assert idle == {f"runner-{machine}" for machine in MACHINES.orphans}


def _in_trouble() -> set[Job]:
    """Jobs whose runner is interrupted, takes another job, never starts, or outlives them."""
    by_job: dict[Job, list[BusEvent]] = {}
    for each in EVENTS:
        by_job.setdefault(each.subject, []).append(each)
    return {job for job, events in by_job.items() if len(events) == 1 or any(_is_trouble(each) for each in events)}


def _is_trouble(event: BusEvent) -> bool:
    wanted_back = {"stopCode", "instance-action"} & event.detail.keys()
    left_over = event.runner_id in (MACHINES.outlived, MACHINES.busy)
    return bool(wanted_back) or left_over or event.detail_type == "runner_rescheduled"


def _of_job(delivery: Delivery) -> bool:
    return delivery.event == "workflow_job"


def _run_id(subject: Subject) -> int:
    return subject.run.id if isinstance(subject, Job) else subject.id


def _known(kind: type[Kind]) -> list[Kind]:
    return _records(kind, LIVES)


def _records(kind: type[Kind], deliveries: list[Delivery]) -> list[Kind]:
    return [record for record in records(deliveries) if isinstance(record, kind)]
