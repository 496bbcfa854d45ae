"""Which machines are orphans, from the reports of GitHub, AWS and the tables."""

from dataclasses import replace
from typing import Any

import pytest
from runledger.model.assignments import Assignment
from runledger.model.inputs import Status
from runledger.model.instance import CONDITIONS, Instance, RunnerKind
from runledger.model.job import Job
from runledger.model.runner import Runner, RunnerStatus
from runledger.model.suspicion import Reason
from runledger.reconciliation.orphans import Waits, lives, orphan_reason
from runledger.recording.decision import decide

from tests.support.webhooks import QUEUED, receipt

NOW, OLD, YOUNG = "2025-01-15T12:00:00.000Z", "2025-01-15T11:00:00.000Z", "2025-01-15T11:55:00.000Z"
ID = "i-0abc1234def567890"


def runner(**about: Any) -> Runner:
    return Runner(**{"runner_id": ID, "status": RunnerStatus.ACTIVE, "created_at": OLD, "job_id": 1, **about})


def job(status: Status = Status.COMPLETED, at: str = OLD) -> Job:
    opened = decide(None, receipt(QUEUED)).job
    return replace(opened, status=status, completed_at=at if status is Status.COMPLETED else None, last_updated_at=at)


def instance(state: str = "running", launched_at: str | None = OLD, *, kind: RunnerKind = RunnerKind.EC2) -> Instance:
    return Instance(runner_id=ID, kind=kind, state=state, launched_at=launched_at, tags={})


def suspected(
    of: Runner | None, its: Job | None, machine: Instance | None, *, may_terminate: bool = True
) -> Reason | None:
    return orphan_reason(
        of, its, machine, may_terminate=may_terminate, now=NOW, waits=Waits(grace_seconds=600, registration_seconds=600)
    )


@pytest.mark.parametrize(
    ("of", "its", "machine", "expected"),
    [
        (runner(), job(), instance(), Reason.JOB_COMPLETED),
        (runner(job_id=None), None, instance(), Reason.NO_JOB),
        (None, None, instance(), Reason.NO_JOB),
        (runner(confirmed_at=OLD), job(Status.IN_PROGRESS), None, Reason.INSTANCE_GONE),
        (runner(), job(), instance("terminated"), Reason.INSTANCE_GONE),
        (runner(), job(), instance("shutting-down"), Reason.INSTANCE_GONE),
        (runner(), job(), instance("stopped"), Reason.INSTANCE_STOPPED),
        (runner(), job(), instance("a new state"), Reason.INSTANCE_STOPPED),
        (None, None, instance("stopped"), None),
    ],
)
def test_a_machine_without_an_open_job_or_a_job_without_its_machine_is_an_orphan(
    of: Runner | None, its: Job | None, machine: Instance | None, expected: Reason
) -> None:
    assert suspected(of, its, machine) is expected


@pytest.mark.parametrize("state", ["deactivating", "stopping", "deprovisioning", "stopped", "deleted"])
def test_a_task_never_starts_again_so_a_stopped_one_is_gone(state: str) -> None:
    task = instance(state, kind=RunnerKind.ECS)
    assert task.is_gone
    assert suspected(runner(), job(), task) is Reason.INSTANCE_GONE


@pytest.mark.parametrize("kind", list(RunnerKind))
def test_a_machine_is_alive_stopped_or_gone_and_only_one_of_them(kind: RunnerKind) -> None:
    for state in CONDITIONS[kind]:
        machine = instance(state, kind=kind)
        reason = suspected(runner(), job(), machine)
        assert (lives(machine), machine.is_gone, reason) in {
            (True, False, Reason.JOB_COMPLETED),
            (False, True, Reason.INSTANCE_GONE),
            (False, False, Reason.INSTANCE_STOPPED),
        }


@pytest.mark.parametrize("status", [Status.IN_PROGRESS, Status.WAITING])
def test_a_runner_whose_job_is_open_is_no_orphan(status: Status) -> None:
    assert suspected(runner(), job(status), instance()) is None


@pytest.mark.parametrize("status", [Status.QUEUED, Status.SCHEDULED])
def test_a_machine_whose_job_has_not_started_may_never_have_registered(status: Status) -> None:
    assert suspected(runner(), job(status), instance()) is Reason.NEVER_REGISTERED


def test_a_machine_has_time_to_register_after_its_launch_and_after_its_assignment() -> None:
    plan = Assignment(installation_id=7, job_id=job().job_id, since=YOUNG, is_plan=True)
    assert suspected(runner(), job(Status.QUEUED), instance(launched_at=YOUNG)) is None
    assert suspected(runner(installation_id=7, assignments=(plan,)), job(Status.QUEUED), instance()) is None


@pytest.mark.parametrize("its", [job(), job(Status.QUEUED), None], ids=["completed", "queued", "none"])
def test_a_runner_whose_suspicion_was_cleared_is_not_suspected_for_a_while(its: Job | None) -> None:
    assert suspected(runner(suspicion_cleared_at=YOUNG), its, instance()) is None
    assert suspected(runner(suspicion_cleared_at=OLD), its, instance()) is not None
    assert suspected(runner(suspicion_cleared_at=YOUNG), its, instance("terminated")) is Reason.INSTANCE_GONE


def test_a_machine_that_aws_never_confirmed_is_out_of_scope_and_not_gone() -> None:
    assert suspected(runner(), job(Status.IN_PROGRESS), None) is None


def test_a_contested_machine_is_never_suspected() -> None:
    assert suspected(runner(contested_at=OLD), job(), instance()) is None
    assert suspected(runner(contested_at=OLD, confirmed_at=OLD), job(), None) is None


def test_a_young_machine_is_no_orphan() -> None:
    assert suspected(runner(created_at=YOUNG), None, None) is None
    assert suspected(runner(created_at=YOUNG), job(), instance()) is None
    assert suspected(None, None, instance(launched_at=YOUNG)) is None
    assert suspected(None, None, instance(launched_at=None)) is None
    assert suspected(runner(), job(at=YOUNG), instance()) is None
    assert suspected(runner(), replace(job(), last_updated_at=YOUNG), instance()) is None
    assert suspected(runner(), replace(job(), completed_at=YOUNG), instance()) is None


@pytest.mark.parametrize("its", [None, job(), job(Status.IN_PROGRESS)])
def test_a_foreign_machine_that_runs_is_no_orphan(its: Job | None) -> None:
    assert suspected(runner(), its, instance(), may_terminate=False) is None
    assert suspected(None, its, instance(), may_terminate=False) is None


@pytest.mark.parametrize("reason", [Reason.INSTANCE_GONE, Reason.INSTANCE_STOPPED])
def test_no_machine_is_stopped_for_what_is_only_left_in_our_table(reason: Reason) -> None:
    assert not reason.machine_is_running
