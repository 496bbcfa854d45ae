"""Defects that the random worlds have found, each as a small world of its own."""

from typing import Any

import pytest
from botocore.exceptions import ConnectTimeoutError
from runledger.model.passes import PassKind

from tests.simulation.reconciler.machines import Machine
from tests.simulation.reconciler.production import wired_to
from tests.simulation.reconciler.random_reconciliations import reconcile_world
from tests.simulation.reconciler.troubles import HOUR, MINUTE, Troubles
from tests.simulation.reconciler.world import START, World
from tests.support.ledgers import JOBS

INSTALLATION, RUN, FIRST, SECOND = 501, 7, 71, 72
REPOSITORIES, ORPHANS = 900, 10


def test_a_run_stays_open_until_all_of_its_jobs_are_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both jobs have ended, the webhooks of the second were never sent, and DynamoDB fails when it is recorded."""
    world = World(Troubles(name="found", silent_at=START))
    put, fails = world.engine.put_item, [True]

    def put_item(**arguments: Any) -> Any:
        if arguments["TableName"] == JOBS and str(SECOND) in arguments["Item"]["PK"]["S"] and fails.pop():
            raise ConnectTimeoutError(endpoint_url="https://aws.invalid")
        return put(**arguments)

    with wired_to(world):
        state, jobs = world.github.state, world.receiving.intake.ledger.jobs
        state.put("installations", INSTALLATION, account="acme")
        state.put("runs", RUN, repository="acme/web")
        first = state.put("jobs", FIRST, run_id=RUN)
        webhook = world.github.job_webhook(first, INSTALLATION)  # type: ignore[arg-type]
        world.deliver("workflow_job", webhook, "guid")
        ended = {"status": "completed", "conclusion": "success", "completed_at": world.github.time()}
        state.put("jobs", FIRST, **ended)
        state.put("jobs", SECOND, run_id=RUN, **ended)
        world.play(START + 30 * MINUTE)
        monkeypatch.setattr(world.engine, "put_item", put_item)
        world.reconcile(PassKind.FULL)
        assert not fails
        assert jobs.get(INSTALLATION, SECOND) is None
        fails.append(False)
        world.play(START + 60 * MINUTE)
        world.reconcile(PassKind.FULL)
        recorded = jobs.get(INSTALLATION, SECOND)
        assert recorded is not None
        assert recorded.conclusion == "success"


def test_orphans_of_unknown_owners_are_stopped_however_many_repositories_there_are() -> None:
    """Runners are listed once for all machines of a pass: a list for each machine would end no search in time."""
    world = World(Troubles(name="repositories", silent_at=START))
    state = world.github.state
    with wired_to(world):
        state.configure(rate_limit=12_500)
        state.put("installations", INSTALLATION, account="acme")
        for number in range(1, REPOSITORIES + 1):
            state.put("runs", number, repository=f"acme/repository-{number}", status="completed")
        for number in range(1, ORPHANS + 1):
            machine = Machine(f"i-{number:017x}", {"runner": "yes"}, START - 2 * HOUR)
            world.ec2.machines[machine.id] = machine
            state.put("runners", number, scope=f"acme/repository-{number}", name=f"runner-{machine.id}")
        world.reconcile(PassKind.FULL)
        world.play(START + 30 * MINUTE)
        world.reconcile(PassKind.FULL)
    assert not world.wrong
    assert len(world.stops) >= 2


def test_a_cleanup_that_died_and_cannot_be_finished_counts_as_overdue() -> None:
    """EC2 times out during the cleanup, and then a runner without a machine's id in its name keeps it waiting."""
    assert reconcile_world(1, 2910).violations == []
