"""A world whose readers may get an earlier state, and that changes between their calls."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count, cycle
from typing import Any

from runledger_github.errors import Refused

from tests.reconciler.lives import Look
from tests.reconciler.machines import Machine, Machines
from tests.reconciler.past import Past, tables_as
from tests.reconciler.wiring import REPOSITORIES, Clock
from tests.simulation.engine import Engine
from tests.simulation.storage import Snapshot
from tests.support.webhooks import QUEUED, REPO, payload

EVENTUALLY_CONSISTENT = {"Query", "BatchGetItem"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    id: int
    name: str
    repo: str = REPO
    busy: bool = False


class StaleWorld:
    """`stopped` and `deregistered` are called with each machine and registration, just before it is removed."""

    def __init__(self, engine: Engine, *, stopped: Callable[[str], None], deregistered: Callable[[int], None]) -> None:
        self.engine = engine
        self.clock = Clock()
        self.minute = 0
        self.registrations: dict[int, Registration] = {}
        self.machines = AgedMachines(self, stopped)
        self.github = AgedGitHub(self, deregistered)
        self.tables = AgedTables(self)
        self._past_tables = Past(engine.snapshot)
        self._past_machines = Past(self.machines.now)
        self._past_registrations = Past(lambda: dict(self.registrations))
        self._to_come: list[tuple[int, int, Callable[[], None]]] = []
        self._order = count()
        self._remember()

    def later(self, minute: int, happens: Callable[[], None]) -> None:
        heappush(self._to_come, (minute, next(self._order), happens))

    def live_until(self, minute: int) -> None:
        while self._to_come and self._to_come[0][0] <= minute:
            self._live_on()
        self._move_to(minute)

    def look(self, look: Look) -> None:
        """Sets how old responses are from now on."""
        self._calls, self._life_goes_on_at = count(1), look.life_goes_on_at
        self._ages_of_tables = cycle(look.ages_of_tables)
        self._ages_of_machines = cycle(look.ages_of_machines)
        self._ages_of_registrations = cycle(look.ages_of_registrations)

    def called(self) -> None:
        """To be called before each call of the code under test."""
        if next(self._calls) in self._life_goes_on_at and self._to_come:
            self._live_on()

    def seen_tables(self) -> Snapshot | None:
        then: Snapshot | None = self._seen(self._past_tables, self._ages_of_tables)
        return then

    def seen_machines(self) -> Mapping[str, Machine]:
        return self._seen(self._past_machines, self._ages_of_machines) or self.machines.now()

    def seen_registrations(self) -> Mapping[int, Registration]:
        then = self._seen(self._past_registrations, self._ages_of_registrations)
        return self.registrations if then is None else then

    def _seen(self, past: Past[Any], ages: Iterator[int]) -> Any:
        age = next(ages)
        return past.at(self.minute - age) if age else None

    def _live_on(self) -> None:
        minute, _, happens = heappop(self._to_come)
        self._move_to(minute)
        happens()

    def _move_to(self, minute: int) -> None:
        if minute > self.minute:
            self._remember()
            self.clock.move(minutes=minute - self.minute)
            self.minute = minute

    def _remember(self) -> None:
        for past in (self._past_tables, self._past_machines, self._past_registrations):
            past.remember(self.minute)


class AgedMachines(Machines):
    def __init__(self, world: StaleWorld, stopped: Callable[[str], None]) -> None:
        super().__init__()
        self._world = world
        self._stopped = stopped

    def seen(self) -> Mapping[str, Machine]:
        self._world.called()
        return self._world.seen_machines()

    def terminate_instances(self, **request: Any) -> None:
        self._world.called()
        super().terminate_instances(**request)

    def stop(self, instance_id: str) -> None:
        self._stopped(instance_id)
        super().stop(instance_id)


class AgedGitHub:
    """The App: each installation has one account with one repository."""

    def __init__(self, world: StaleWorld, deregistered: Callable[[int], None]) -> None:
        self._world = world
        self._deregistered = deregistered

    def installations(self) -> list[Mapping[str, Any]]:
        return [self.find_installation(each) for each in REPOSITORIES]

    def find_installation(self, installation_id: int) -> Mapping[str, Any]:
        account = REPOSITORIES[installation_id].partition("/")[0]
        return {
            "id": installation_id,
            "account": {"login": account, "type": "Organization"},
            "suspended_at": None,
            "repository_selection": "all",
        }

    def installation(self, installation_id: int) -> "AgedInstallation":
        return AgedInstallation(self._world, REPOSITORIES[installation_id], self._deregistered)


class AgedInstallation:
    """Lists are stale. A removal takes effect at once, and is rejected while the runner is busy."""

    def __init__(self, world: StaleWorld, repo: str, deregistered: Callable[[int], None]) -> None:
        self._world = world
        self._repo = repo
        self._deregistered = deregistered

    def repositories(self) -> list[Mapping[str, Any]]:
        return [{"full_name": self._repo}]

    def job(self, _repo: str, job_id: int) -> Mapping[str, Any]:
        """The oldest state that GitHub may respond with: the job is queued."""
        job: Mapping[str, Any] = payload(QUEUED, job_id=job_id)["workflow_job"]
        return job

    def org_runners(self, _org: str) -> list[Mapping[str, Any]]:
        return []

    def repo_runners(self, repo: str) -> list[Mapping[str, Any]]:
        self._world.called()
        seen = self._world.seen_registrations().values()
        return [{"id": each.id, "name": each.name, "busy": each.busy} for each in seen if each.repo == repo]

    def delete_org_runner(self, _org: str, _runner_id: int) -> None:
        """There is none."""

    def delete_repo_runner(self, repo: str, runner_id: int) -> None:
        self._world.called()
        found = self._world.registrations.get(runner_id)
        if found and found.busy:
            raise Refused(f"DELETE runner {runner_id} of {repo}", status=422, message="is still running a job")
        if found:
            self._deregistered(runner_id)
            del self._world.registrations[runner_id]


class AgedTables:
    """Wraps the client: eventually consistent reads return an older state."""

    def __init__(self, world: StaleWorld) -> None:
        self._world = world
        self._then = ExitStack()

    def before(self, call: str) -> None:
        self._world.called()
        if call in EVENTUALLY_CONSISTENT and (then := self._world.seen_tables()) is not None:
            self._then.enter_context(tables_as(self._world.engine, then))

    def after(self, _call: str) -> None:
        self._then.close()
