"""Small worlds in which one thing goes wrong, each with the reconciler as it is deployed."""

from runledger.model.passes import PassKind

from tests.simulation.reconciler.machines import Machine
from tests.simulation.reconciler.production import wired_to
from tests.simulation.reconciler.troubles import HOUR, MINUTE, Troubles, Window
from tests.simulation.reconciler.world import START, World
from tests.support import runner_events

INSTALLATION, HANGS = 501, "timeout"
SHORT_ID, LONG_ID = "i-0abc1234", "i-0abc1234def567890"


def pass_each_half_hour(world: World, *, hours: float) -> None:
    for number in range(1, round(hours * 2) + 1):
        world.play(START + number * 30 * MINUTE)
        world.reconcile(PassKind.FULL)


def test_no_webhook_is_lost_while_intake_is_down_for_two_days() -> None:
    """The attempts are spread over most of the three days in which GitHub redelivers a webhook."""
    outage = 48 * HOUR
    world = World(Troubles(name="outage", silent_at=START, down=((START, START + outage),)))
    state, job_ids = world.github.state, range(1, 6)
    with wired_to(world):
        state.put("installations", INSTALLATION, account="acme")
        for job_id in job_ids:
            state.put("runs", job_id, repository="acme/web")
            job = state.put("jobs", job_id, run_id=job_id)
            world.deliver("workflow_job", world.github.job_webhook(job, INSTALLATION), f"guid-{job_id}")  # type: ignore[arg-type]
        pass_each_half_hour(world, hours=62)
        jobs = world.receiving.intake.ledger.jobs
        assert all(jobs.get(INSTALLATION, job_id) for job_id in job_ids)
    assert not world.wrong


def test_a_machine_with_a_short_id_is_not_taken_for_one_whose_id_starts_with_it() -> None:
    world = World(Troubles(name="ids", silent_at=START))
    state = world.github.state
    with wired_to(world):
        state.put("installations", INSTALLATION, account="acme")
        state.put("runs", 1, repository="acme/web")
        for number, machine_id in enumerate((SHORT_ID, LONG_ID)):
            tags = {"runner": "yes"} if machine_id == SHORT_ID else {}
            world.ec2.machines[machine_id] = Machine(machine_id, tags, START - 2 * HOUR)
            state.put("runners", number, scope="acme/web", name=f"runner--{machine_id}")
        pass_each_half_hour(world, hours=1)
    assert [machine.id for _, machine in world.stops] == [SHORT_ID]
    assert [each.name for each in state.runners.values()] == [f"runner--{LONG_ID}"]


def test_machines_whose_jobs_cannot_be_read_keep_no_orphan_alive() -> None:
    """Each of these requests takes half a minute, so a pass has time for fewer machines than there are."""
    until = START + 6 * HOUR
    hangs = Window(start=START, end=until, kind=HANGS, path="/actions/jobs/")
    world = World(Troubles(name="hangs", silent_at=until, windows=(hangs,)))
    state = world.github.state
    with wired_to(world):
        state.put("installations", INSTALLATION, account="acme")
        state.put("runs", 1, repository="acme/web")
        for number in range(1, 31):
            machine = Machine(f"i-{number:017x}", {"runner": "yes"}, START - 2 * HOUR)
            world.ec2.machines[machine.id] = machine
            if number > 25:
                state.put("runners", number, scope="acme/web", name=f"runner--{machine.id}")
                continue
            state.put("jobs", number, run_id=1, created_at=world.github.time())
            about = {"installation_id": INSTALLATION, "repo_full_name": "acme/web", "run_id": 1}
            world.launcher_event(
                runner_events.launcher("runner_scheduled", job_id=number, runner_id=machine.id, minute=0, **about)
            )
        pass_each_half_hour(world, hours=5)
    assert len(world.stops) == 5


def test_jobs_without_a_run_that_cannot_be_read_keep_no_other_open() -> None:
    """Nothing stores when they were checked. A pass has time for fewer of them than there are."""
    until, healthy = START + 6 * HOUR, range(900, 903)
    hangs = Window(start=START, end=until, kind=HANGS, path="/actions/jobs/1")
    world = World(Troubles(name="without a run", silent_at=until, windows=(hangs,)))
    state = world.github.state
    with wired_to(world):
        state.put("installations", INSTALLATION, account="acme")
        state.put("runs", 1, repository="acme/web")
        ended = {"status": "completed", "conclusion": "success", "completed_at": world.github.time()}
        for job_id in (*range(100, 130), *healthy):
            state.put("jobs", job_id, run_id=1, **ended)
            unknown = {"run_id": None, "run_attempt": None}
            about = {"installation_id": INSTALLATION, "repo_full_name": "acme/web", **unknown}
            machine = f"i-{job_id:017x}"
            world.launcher_event(
                runner_events.launcher("runner_scheduled", job_id=job_id, runner_id=machine, minute=0, **about)
            )
        pass_each_half_hour(world, hours=5)
        found = world.receiving.intake.ledger.jobs.among((INSTALLATION, job_id) for job_id in healthy)
    assert [each.status for each in found.values()] == ["completed"] * len(healthy)


def test_stuck_jobs_that_use_up_the_rate_limit_keep_no_orphan_alive() -> None:
    """Twenty requests an hour are not reserved for others, and sixty runs are checked in every pass."""
    world = World(Troubles(name="limit", silent_at=START))
    state = world.github.state
    with wired_to(world):
        state.configure(rate_limit=40)
        state.put("installations", INSTALLATION, account="acme")
        for number in range(1, 61):
            state.put("runs", number, repository="acme/web")
            job = state.put("jobs", number, run_id=number)
            world.deliver("workflow_job", world.github.job_webhook(job, INSTALLATION), f"guid-{number}")  # type: ignore[arg-type]
        machine = Machine("i-00000000000000001", {"runner": "yes"}, START - 2 * HOUR)
        world.ec2.machines[machine.id] = machine
        state.put("runners", 1, scope="acme/web", name=f"runner--{machine.id}")
        pass_each_half_hour(world, hours=4)
        checked = [run for run in world.receiving.intake.ledger.runs.open(INSTALLATION) if "checked_at" in run]
    assert [each.id for _, each in world.stops] == [machine.id]
    assert len(checked) == 60


def test_a_pass_ends_before_lambda_ends_it_although_github_hangs() -> None:
    """World.wrong lists passes that Lambda had to end."""
    until = START + 2 * HOUR
    world = World(Troubles(name="silence", silent_at=until, windows=(Window(start=START, end=until, kind=HANGS),)))
    state = world.github.state
    with wired_to(world):
        state.put("installations", INSTALLATION, account="acme")
        for number in range(1, 31):
            state.put("runs", number, repository="acme/web")
            job = state.put("jobs", number, run_id=number)
            world.deliver("workflow_job", world.github.job_webhook(job, INSTALLATION), f"guid-{number}")  # type: ignore[arg-type]
        pass_each_half_hour(world, hours=1.5)
    assert not world.wrong
    assert [each.result["outcome"] for each in world.passes if each.result] == ["unfinished"] * 3
