"""What `make preflight` advises for a stack that can't be updated, by its status and its termination protection."""

import pytest

from preflight.cloudformation import Stack, obstacle
from preflight.results import Problem

NAME = "runledger-prod-api"
WHERE = f"--stack-name {NAME} --region us-east-1"


def advice(status: str, *, is_protected: bool = False) -> Problem | None:
    stack = Stack(
        stack_id="arn:aws:cloudformation:us-east-1:000000000000:stack/runledger-prod-api/1",
        name=NAME,
        status=status,
        is_ours=True,
        is_protected=is_protected,
        outputs={},
    )
    return obstacle(stack, "us-east-1")


@pytest.mark.parametrize(
    "status", ["CREATE_COMPLETE", "UPDATE_COMPLETE", "UPDATE_ROLLBACK_COMPLETE", "IMPORT_COMPLETE", "UPDATE_FAILED"]
)
def test_a_finished_stack_can_be_updated(status: str) -> None:
    assert advice(status) is None


def test_a_stopped_rollback_is_continued_and_the_stack_never_deleted() -> None:
    found = advice("UPDATE_ROLLBACK_FAILED")
    assert found
    assert f"`aws cloudformation continue-update-rollback {WHERE}`" in found.next_step
    assert "delete-stack" not in found.next_step


@pytest.mark.parametrize("status", ["DELETE_FAILED", "ROLLBACK_FAILED", "CREATE_FAILED"])
def test_a_stack_that_may_hold_resources_is_inspected_before_it_is_deleted(status: str) -> None:
    found = advice(status)
    assert found
    assert found.detail == f"{NAME} is in {status}: it may still have resources"
    steps = [found.next_step.index(step) for step in ("list-stack-resources", "delete-stack", "deploy again")]
    assert steps == sorted(steps)


def test_a_stack_that_was_never_created_is_deleted() -> None:
    assert advice("ROLLBACK_COMPLETE") == Problem(
        f"{NAME} is in ROLLBACK_COMPLETE and can't be updated",
        f"run `aws cloudformation delete-stack {WHERE}`, then deploy again",
    )


@pytest.mark.parametrize("status", ["ROLLBACK_COMPLETE", "DELETE_FAILED"])
def test_termination_protection_is_turned_off_before_a_stack_is_deleted(status: str) -> None:
    found = advice(status, is_protected=True)
    assert found
    steps = [found.next_step.index(step) for step in ("--no-enable-termination-protection", "delete-stack")]
    assert steps == sorted(steps)


@pytest.mark.parametrize("status", ["UPDATE_IN_PROGRESS", "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS"])
def test_another_deployment_is_waited_for(status: str) -> None:
    found = advice(status)
    assert found
    assert found.next_step == "wait until the other deployment has finished"
