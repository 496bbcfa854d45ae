"""Publications and rebuilds in memory: the real use cases and tables, and a GitHub that counts dispatches."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError
from runledger.model import times
from runledger.model.errors import NoResponseError
from runledger.model.packages import LineKey, Package, Publication, PublishedBy
from runledger.model.releases import RebuildMode
from runledger.platform.clock import SystemClock
from runledger.releases.lines import Lines
from runledger.releases.publications import Publications
from runledger.releases.queue import RebuildQueue, read_line
from runledger.releases.rebuilds import Rebuilds
from runledger.tables import schema
from runledger.tables.packages import PackagesTable
from runledger.tables.release_lines import LinesTable
from runledger_github.errors import Refused

from tests.simulation.clock import Clock
from tests.simulation.engine import Engine
from tests.simulation.explore import play
from tests.simulation.services import Queues
from tests.simulation.world import Process, World

SCOPE = 7
TABLE = schema.RELEASES.name
REBUILDS = "https://sqs.invalid/rebuilds"
WORKFLOW_ID = 55
BASE = LineKey(SCOPE, "base", "1.1.0")


class DelayingQueues(Queues):
    """Each message is delivered, however late."""

    def send_message(self, *, QueueUrl: str, MessageBody: str, DelaySeconds: int = 0) -> dict[str, str]:  # noqa: N803
        assert 0 <= DelaySeconds <= 900
        return super().send_message(QueueUrl=QueueUrl, MessageBody=MessageBody)


@dataclass
class GitHub:
    """Dispatches are entries of the bus, so that a world saves and restores them. The first has the run 1001."""

    events: Any
    entries: Callable[[], tuple[Any, ...]]
    names_runs: bool = True
    refuses: Mapping[str, Exception] = field(default_factory=dict)

    def repository(self, _: str) -> Mapping[str, Any]:
        return {"default_branch": "main"}

    def workflow(self, _: str, workflow: str) -> Mapping[str, Any]:
        return {"id": WORKFLOW_ID, "path": workflow}

    def dispatch_workflow(self, repo: str, workflow: str, *, ref: str) -> Mapping[str, Any]:
        if repo in self.refuses:
            raise self.refuses[repo]
        try:
            self.events.put_events(Entries=[{"repo": repo, "workflow": workflow, "ref": ref}])
        except (ClientError, BotoCoreError) as error:
            raise NoResponseError("no response", repeatable=False) from error
        run_id = 1000 + len(self.entries())
        return {"workflow_run_id": run_id, "html_url": f"https://x/{run_id}"} if self.names_runs else {}


@dataclass
class Scene:
    """The use cases on clients that may fail."""

    dynamodb: Any
    sqs: Any
    events: Any
    entries: Callable[[], tuple[Any, ...]]
    clock: Clock
    mode: RebuildMode = RebuildMode.ENFORCE
    names_runs: bool = True
    refuses: Mapping[str, Exception] = field(default_factory=dict)

    @property
    def packages(self) -> PackagesTable:
        return PackagesTable(self.dynamodb, TABLE)

    @property
    def table(self) -> LinesTable:
        return LinesTable(self.dynamodb, TABLE, retention_days=90)

    @property
    def queue(self) -> RebuildQueue:
        return RebuildQueue(sqs=self.sqs, url=REBUILDS)

    @property
    def lines(self) -> Lines:
        return Lines(table=self.table, send=self.queue.send, now=self.clock.text)

    @property
    def publications(self) -> Publications:
        return Publications(
            packages=self.packages, lines=self.table, mode=self.mode, send=self.queue.send, now=self.clock.text
        )

    @property
    def rebuilds(self) -> Rebuilds:
        github = GitHub(self.events, self.entries, self.names_runs, self.refuses)
        return Rebuilds(
            table=self.table,
            lines=self.lines,
            github=lambda _: github,
            send=self.queue.send,
            time=SystemClock(now=self.clock.now),
        )

    def package(self, name: str, *, workflow: str | None = "release.yml", **dependencies: str) -> None:
        package = Package(
            installation_id=SCOPE,
            name=name,
            repo_full_name=f"acme/{name}",
            published_by=PublishedBy.TAG,
            workflow=workflow,
            dependencies=dependencies,
        )
        self.packages.save(package, at=self.clock.text())

    def publish(self, name: str = "base", version: str = "1.1.0") -> list[LineKey]:
        return self.publications.publish(publication(name, version, at=self.clock.text()))

    def run(self, repo: str, *, run_id: int, conclusion: str | None = None, attempt: int = 1) -> None:
        self.lines.run_changed(run_item(repo, self.clock.text(), run_id=run_id, conclusion=conclusion, attempt=attempt))

    def statuses(self, line: LineKey = BASE) -> dict[str, str]:
        return {each["name"]: each["status"] for each in self.table.dependents(line)}

    def line(self, line: LineKey = BASE) -> dict[str, Any]:
        found = self.table.get(line)
        assert found
        return found


def publication(name: str, version: str, *, at: str) -> Publication:
    return Publication(
        installation_id=SCOPE,
        repo_full_name=f"acme/{name}",
        published_by=PublishedBy.TAG,
        published_at=at,
        tag=f"v{version}",
    )


def run_item(repo: str, at: str, *, run_id: int, conclusion: str | None, attempt: int = 1) -> dict[str, Any]:
    """A run's item, as the stream of workflow_runs contains it."""
    return {
        "installation_id": SCOPE,
        "run_id": run_id,
        "run_attempt": attempt,
        "repo_full_name": f"acme/{repo}",
        "workflow_id": WORKFLOW_ID,
        "event": "workflow_dispatch",
        "status": "completed" if conclusion else "in_progress",
        "conclusion": conclusion,
        "created_at": times.normalised(at),
        "run_html_url": f"https://x/{run_id}",
    }


class ReleaseWorld(World):
    """`base` has the dependents ui and api; app depends on ui."""

    def __init__(self) -> None:
        super().__init__()
        self.engine = Engine((schema.RELEASES,))
        self.engine.lag = self._lag
        self.queues = DelayingQueues()
        self.services |= {"dynamodb": self.engine, "sqs": self.queues}
        scene = self.scene()
        scene.package("base")
        scene.package("ui", base="^1.0.0")
        scene.package("api", base="^1.0.0")
        scene.package("app", ui="^3.0.0")

    def scene(self, **options: Any) -> Scene:
        """Undisturbed."""
        return Scene(self.engine, self.queues, self.bus, lambda: self.bus.entries, self.clock, **options)

    def dispatches(self) -> list[str]:
        return sorted(each["repo"].removeprefix("acme/") for each in self.bus.entries)


def scene_of(process: Process, **options: Any) -> Scene:
    world = process.world
    dynamodb, sqs, events = (world.client(each) for each in ("dynamodb", "sqs", "events"))
    return Scene(dynamodb, sqs, events, lambda: world.bus.entries, world.clock, **options)


def advance_all(process: Process, **options: Any) -> None:
    """The messages of the queue, until there are none."""
    scene, queues = scene_of(process, **options), process.world.queues
    for _ in range(20):
        messages = queues.take(REBUILDS)
        if not messages:
            return
        for message in messages:
            scene.rebuilds.advance(read_line(message))
    raise AssertionError("the queue is never empty")


def released(world: ReleaseWorld) -> Scene:
    """`base` is published, and what waits for nothing is dispatched: api has the run 1001, ui 1002."""
    scene = world.scene()
    scene.publish()
    play(world, {"rebuilds": advance_all})
    return scene


def refused(message: str = "Workflow does not have 'workflow_dispatch' trigger") -> Refused:
    return Refused("POST", status=422, message=message)
