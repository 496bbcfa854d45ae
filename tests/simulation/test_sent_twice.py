"""An SDK that misses the response to a conditional write sends it again. Its own first try must not reject it."""

from collections.abc import Callable

import pytest
from runledger.model.follow_ups import RerunCheck
from runledger.model.keys import DeploymentKey, RunKey
from runledger.model.reports import InstallationReport, InstallationStatus
from runledger.model.runner import RunnerStatus
from runledger.tables.cleanups import CleanupLocks
from runledger.tables.deployments import DeploymentsTable
from runledger.tables.installations import InstallationsRegistry
from runledger.tables.lost_deliveries import LostDeliveries, LostDelivery
from runledger.tables.rerun_claims import RerunClaims
from runledger.tables.runs import RunsTable
from runledger.tables.table import Table

from tests.simulation.calls import Fault
from tests.simulation.explore import Outcome, fault_points, in_order, play
from tests.simulation.job_life import record
from tests.simulation.world import Process, World
from tests.support.ledgers import JOBS, RUNNERS, RUNS
from tests.support.webhooks import COMPLETED, IN_PROGRESS, INSTALLATION, QUEUED, REPO, RUN, receipt

NOW, UNTIL = "2025-01-15T10:00:00.000Z", "2025-01-15T10:01:00.000Z"
CHECK = RerunCheck(installation_id=INSTALLATION, repo_full_name=REPO, run_id=RUN, run_attempt=1)
LOST = LostDelivery(guid="guid", delivery_id=1, delivered_at=NOW, event="workflow_job")
DELETED = InstallationReport(
    installation_id=INSTALLATION, status=InstallationStatus.DELETED, changed_at=NOW, reported_at=NOW
)
Operation = Callable[[Process], object]


def claims(process: Process) -> RerunClaims:
    return RerunClaims(process.world.client("dynamodb"), RUNS)


def runs(process: Process) -> RunsTable:
    return process.ledger.runs


def deployments(process: Process) -> DeploymentsTable:
    return process.ledger.deployments


def lost(process: Process) -> LostDeliveries:
    return LostDeliveries(process.world.client("dynamodb"), RUNNERS)


def locks(process: Process) -> CleanupLocks:
    return CleanupLocks(process.world.client("dynamodb"), RUNNERS)


def installations(process: Process) -> InstallationsRegistry:
    return InstallationsRegistry(process.world.client("dynamodb"), JOBS)


def suspect(process: Process) -> None:
    key = {"PK": "i-1", "SK": "v"}
    put = {"status": RunnerStatus.ACTIVE, "suspected_at": NOW}
    Table(process.world.client("dynamodb"), RUNNERS).update(key, put=put)


def claim_and_release(process: Process) -> object:
    rerun = claims(process).claim(CHECK, owner="us", at=NOW, until=UNTIL)
    return claims(process).release(CHECK, seen=rerun, owner="us")


def confirm(process: Process) -> bool:
    reported = {"installation_id": INSTALLATION, "status": InstallationStatus.DELETED, "changed_at": NOW}
    return installations(process).confirm(reported, None, at=UNTIL)


OPERATIONS: dict[str, tuple[Operation, Operation]] = {
    "claim of a re-run": (
        lambda _: None,
        lambda process: claims(process).claim(CHECK, owner="us", at=NOW, until=UNTIL).claimed,
    ),
    "release of a re-run": (lambda _: None, claim_and_release),
    "claim of a run": (
        lambda _: None,
        lambda process: runs(process).claim(RunKey(INSTALLATION, RUN, 1), at=NOW, until=UNTIL),
    ),
    "claim of a deployment": (
        lambda _: None,
        lambda process: deployments(process).claim(DeploymentKey(INSTALLATION, 1), at=NOW, until=UNTIL),
    ),
    "redelivery": (
        lambda process: lost(process).store(LOST),
        lambda process: lost(process).count_attempt(LOST, at=NOW),
    ),
    "cleanup": (
        suspect,
        lambda process: locks(process).acquire("i-1", suspected_at=NOW, owner="us", at=UNTIL),
    ),
    "confirmation": (lambda process: installations(process).absorb(DELETED), confirm),
}

RIVALS: dict[str, Operation] = {
    "claim of a re-run": lambda process: claims(process).claim(CHECK, owner="them", at=NOW, until=UNTIL).claimed,
}


def world_after(past: Operation) -> World:
    world = World()
    play(world, {"past": past})
    return world


def results(outcome: Outcome) -> object:
    return outcome.results["A"].value


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_conditional_write_that_is_sent_twice_succeeds_as_if_sent_once(name: str) -> None:
    past, operation = OPERATIONS[name]
    once, *twice = fault_points(world_after(past), operation, kinds=(Fault.SENT_TWICE,))
    assert twice
    for outcome in twice:
        assert results(outcome) == results(once), outcome.story()


@pytest.mark.parametrize("name", ["claim of a re-run", "claim of a run", "claim of a deployment", "redelivery"])
def test_of_two_that_want_the_same_one_gets_it(name: str) -> None:
    past, operation = OPERATIONS[name]
    world = world_after(past)
    first, second = play(world, {"A": operation}), play(world, {"A": RIVALS.get(name, operation)})
    assert (results(first), results(second)) == (True, False)


@pytest.mark.parametrize("step", [QUEUED, IN_PROGRESS, COMPLETED])
def test_a_job_that_is_saved_twice_is_recorded_and_not_repeated(step: str) -> None:
    """So it is also counted in the metrics."""
    received = receipt(step, at=900)

    def outcome(process: Process) -> str:
        return str(process.ledger.record(received).outcome)

    pasts: list[list[str]] = [[], [QUEUED], [QUEUED, IN_PROGRESS]]
    for past in pasts:
        if step in past:
            continue
        world = world_after(in_order(*map(record, past)))
        once, *twice = fault_points(world, outcome, kinds=(Fault.SENT_TWICE,))
        for each in twice:
            assert results(each) == "recorded", each.story()
            assert not each.differences(once.tables), each.story()


def test_a_claim_that_ran_out_is_not_released_by_its_former_owner() -> None:
    world = World()
    check, later = CHECK, "2025-01-15T10:02:00.000Z"

    def flow(process: Process) -> object:
        rerun = claims(process).claim(check, owner="first", at=NOW, until=UNTIL)
        claims(process).claim(check, owner="second", at=UNTIL, until=later)
        assert claims(process).release(check, seen=rerun, owner="first") is None
        return claims(process).claim(check, owner="third", at=UNTIL, until=later).claimed

    assert results(play(world, {"A": flow})) is False
