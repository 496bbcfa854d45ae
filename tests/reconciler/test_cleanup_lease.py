"""The lease of a cleanup: one cleaner at a time, however long the search before it takes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from runledger.model.runner import Runner, RunnerStatus
from runledger.model.suspicion import RegistrationState
from runledger.reconciliation.cleanup import CleanupOutcome
from runledger.reconciliation.registrations import MachineSearch
from runledger.tables.cleanups import LEASE_SECONDS

from tests.reconciler.machines import Machines, NoTasks
from tests.reconciler.orphans import outlived
from tests.reconciler.wiring import GRACE_SECONDS, ORG, TAGS, Clock, clean, cleanup_on, runners_on
from tests.support import runner_events
from tests.support.webhooks import INSTALLATION

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

APP = SimpleNamespace(installations=lambda: [{"id": INSTALLATION, "account": {"login": ORG}}])
INSTANCE, JOB = "i-0123456789abcdef0", 1


def nothing() -> None:
    pass


@dataclass
class Moments:
    """GitHub has no registration of the machine. At two moments of a cleanup, something else happens."""

    in_search: Callable[[], object] = nothing
    in_removal: Callable[[], object] = nothing
    is_busy: bool = False
    searched: list[Sequence[int]] = field(default_factory=list)

    def begin(self) -> None:
        pass

    def search(self, machine: MachineSearch) -> None:
        self.searched.append(machine.installation_ids)
        self.in_search()

    def state_of(self, machine: MachineSearch) -> RegistrationState:  # noqa: ARG002 (the protocol's name)
        return RegistrationState.NONE

    def search_again(self, machine: MachineSearch) -> None:
        pass

    def remove(self, machine: MachineSearch) -> bool:  # noqa: ARG002 (the protocol's name)
        self.in_removal()
        return not self.is_busy


class Bed:
    def __init__(self, dynamodb: "DynamoDBClient") -> None:
        self.dynamodb, self.clock, self.machines = dynamodb, Clock(), Machines()
        self.machines.launch(INSTANCE, at=self.clock.at.replace(hour=9), tags=TAGS)
        outlived(dynamodb, INSTANCE, job_id=JOB, suspected_at=self.clock.text(seconds=GRACE_SECONDS + 60))

    def clean(self, pass_id: str, moments: Moments | None = None) -> CleanupOutcome:
        cleanup = cleanup_on(
            self.dynamodb,
            ec2=self.machines,
            ecs=NoTasks(),
            app=APP,
            clock=self.clock,
            registrations=moments or Moments(),
        )
        return clean(cleanup, INSTANCE, pass_id=pass_id)

    def runner(self) -> Runner:
        found = runners_on(self.dynamodb).table.get(INSTANCE)
        assert found is not None
        return found


@pytest.fixture
def bed(dynamodb: "DynamoDBClient") -> Bed:
    return Bed(dynamodb)


def test_a_search_that_takes_longer_than_a_lease_leaves_a_whole_lease(bed: Bed) -> None:
    """Between the first cleaner's lock and its stop, a second one comes."""
    outcomes = []
    slow = Moments(
        in_search=lambda: bed.clock.move(seconds=LEASE_SECONDS + 60),
        in_removal=lambda: outcomes.append(bed.clean("second")),
    )
    assert bed.clean("first", slow) is CleanupOutcome.CLEANED
    assert outcomes == [CleanupOutcome.ANOTHER_CLEANUP]
    assert bed.machines.stops == [INSTANCE]


def test_of_two_cleaners_that_search_at_the_same_time_one_stops(bed: Bed) -> None:
    outcomes = []
    first = Moments(in_search=lambda: outcomes.append(bed.clean("second")))
    assert bed.clean("first", first) is CleanupOutcome.ALREADY_CLEANED
    assert outcomes == [CleanupOutcome.CLEANED]
    assert bed.machines.stops == [INSTANCE]


def test_a_cleaner_that_was_paused_past_its_lease_stops_nothing(bed: Bed) -> None:
    paused = Moments(in_removal=lambda: bed.clock.move(seconds=LEASE_SECONDS))
    assert bed.clean("first", paused) is CleanupOutcome.TOO_SLOW
    assert bed.machines.stops == []


def test_a_cleaner_that_is_killed_leaves_a_lease_that_the_next_one_waits_for(bed: Bed) -> None:
    class Killed(BaseException):
        pass

    def kill() -> None:
        raise Killed

    with pytest.raises(Killed):
        bed.clean("first", Moments(in_removal=kill))
    assert bed.runner().status is RunnerStatus.CLEANING
    bed.clock.move(seconds=LEASE_SECONDS - 1)
    assert bed.clean("second") is CleanupOutcome.ANOTHER_CLEANUP
    assert bed.machines.stops == []
    bed.clock.move(seconds=1)
    assert bed.clean("second") is CleanupOutcome.CLEANED
    assert bed.machines.stops == [INSTANCE]


def test_a_cleanup_is_not_resumed_after_a_job_was_recorded_on_the_runner(bed: Bed) -> None:
    """The job has ended since. But the runner is no longer suspected, and a new suspicion needs its grace period."""

    class Killed(BaseException):
        pass

    def assign_and_kill() -> None:
        event = runner_events.launcher("runner_scheduled", job_id=JOB, runner_id=INSTANCE)
        runner_events.publish(event, runners_on(bed.dynamodb))
        raise Killed

    with pytest.raises(Killed):
        bed.clean("first", Moments(in_removal=assign_and_kill))
    assert (bed.runner().status, bed.runner().suspected_at) == (RunnerStatus.CLEANING, None)
    bed.clock.move(seconds=LEASE_SECONDS)
    assert bed.clean("second") is CleanupOutcome.IN_USE
    assert bed.machines.stops == []
    assert bed.runner().status is RunnerStatus.ACTIVE


def test_a_machine_that_is_marked_to_be_kept_during_the_search_is_left_alone(bed: Bed) -> None:
    at = bed.clock.at.replace(hour=9)
    tags = {**TAGS, "ghr:bypass-removal": "true"}
    marked = Moments(in_search=lambda: bed.machines.launch(INSTANCE, at=at, tags=tags))
    assert bed.clean("first", marked) is CleanupOutcome.IN_USE
    assert bed.machines.stops == []
    assert (bed.runner().status, bed.runner().suspected_at) == (RunnerStatus.ACTIVE, None)


def test_a_machine_that_is_tagged_for_another_owner_during_the_search_is_left_alone(bed: Bed) -> None:
    """A launcher moves it from one organisation to another, whose runners were not listed."""
    at = bed.clock.at.replace(hour=9)
    bed.machines.launch(INSTANCE, at=at, tags={**TAGS, "ghr:Owner": ORG})
    moved = Moments(in_search=lambda: bed.machines.launch(INSTANCE, at=at, tags={**TAGS, "ghr:Owner": "mallory"}))
    assert bed.clean("first", moved) is CleanupOutcome.IN_USE
    assert bed.machines.stops == []


def test_the_result_of_a_cleanup_names_a_busy_runner(bed: Bed) -> None:
    outcome = bed.clean("first", Moments(is_busy=True))
    assert outcome is CleanupOutcome.BUSY
    assert str(outcome) == "not cleaned: GitHub reports this runner as busy"
    assert bed.machines.stops == []
    assert (bed.runner().status, bed.runner().suspected_at) == (RunnerStatus.ACTIVE, None)


@pytest.mark.parametrize("moment", ["in_search", "in_removal"])
def test_a_machine_that_gets_a_job_during_its_cleanup_is_left_alone(bed: Bed, moment: str) -> None:
    def assign() -> None:
        runner_events.publish(
            runner_events.launcher("runner_scheduled", job_id=JOB + 1, runner_id=INSTANCE), runners_on(bed.dynamodb)
        )

    moments = Moments()
    setattr(moments, moment, assign)
    assert bed.clean("first", moments) is CleanupOutcome.IN_USE
    assert bed.machines.stops == []
    assert bed.runner().job_id == JOB + 1
