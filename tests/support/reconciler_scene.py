"""The reconciler on moto with the simulated GitHub, for several test modules."""

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from runledger.model.reports import WEBHOOK_PATH
from runledger.tables.attributes import to_attributes

from tests.support.beds import items
from tests.support.ledgers import EVENTS, JOBS, RUNNERS
from tests.support.runner_events import batch, launcher
from tests.support.webhooks import COMPLETED, INSTALLATION, QUEUED, REPO, RUN, SECRET, http_event, payload

if TYPE_CHECKING:
    from local.github import SimulatedGitHub
    from tests.functions.conftest import World

ORG = REPO.partition("/")[0]
TAGGED = {"runner": "yes"}
UNREACHABLE = f"http://127.0.0.1:9{WEBHOOK_PATH}"


def ago(**some: float) -> str:
    return (datetime.now(UTC) - timedelta(**some)).isoformat(timespec="seconds").replace("+00:00", "Z")


class Scene:
    """A deployment with an App; methods change GitHub and EC2, and deliver webhooks."""

    def __init__(self, world: "World", github: "SimulatedGitHub") -> None:
        self.world, self.github = world, github
        github.state.put("installations", INSTALLATION, account=ORG)
        github.state.put("runs", RUN, repository=REPO)

    def receive(self, step: str, job_id: int, **changes: object) -> None:
        """Delivers GitHub's webhook, dated by the job's creation."""
        changes = {"created_at": ago(hours=1), **changes}
        body = json.dumps(payload(step, job_id=job_id, **changes)).encode()
        at = datetime.fromisoformat(str(changes["created_at"])).timestamp()
        event = http_event(body, guid=f"{step} {job_id}", at_epoch_ms=round(at * 1000))
        assert self.world.invoke("webhook_intake", event)["statusCode"] == 202

    def on_github(self, job_id: int, status: str, **about: Any) -> None:
        known = {"run_id": RUN, "status": status, "created_at": ago(hours=1), **about}
        self.github.state.put("jobs", job_id, **known)

    def start_instance(self, tags: dict[str, str] | None = None) -> str:
        ec2 = self.world.client("ec2")
        marks = [{"Key": name, "Value": value} for name, value in (TAGGED if tags is None else tags).items()]
        specification = [{"ResourceType": "instance", "Tags": marks}] if marks else []
        started = ec2.run_instances(ImageId="ami-12c6146b", MinCount=1, MaxCount=1, TagSpecifications=specification)
        return str(started["Instances"][0]["InstanceId"])

    def state_of(self, instance_id: str) -> str:
        described = self.world.client("ec2").describe_instances(InstanceIds=[instance_id])
        return str(described["Reservations"][0]["Instances"][0]["State"]["Name"])

    def launch(self, job_id: int, instance_id: str, **more: Any) -> None:
        event = launcher("runner_scheduled", job_id=job_id, runner_id=instance_id, **more)
        self.world.invoke("scheduling_events", batch(event | {"time": ago(minutes=50)}))

    def reconcile(self, kind: str = "full", **more: Any) -> dict[str, Any]:
        self.world.start("reconciler")
        response: dict[str, Any] = json.loads(json.dumps(self.world.invoke("reconciler", {"pass": kind, **more})))
        return response

    def job(self, job_id: int) -> dict[str, Any]:
        return self._items(JOBS)[f"{INSTALLATION}#{job_id}"]

    def runner(self, runner_id: str) -> dict[str, Any]:
        return self._items(RUNNERS)[runner_id]

    def history(self, job_id: int) -> list[dict[str, Any]]:
        return [line for line in items(self.world.dynamodb, EVENTS) if line["job_id"] == job_id]

    def calls(self, route: str) -> int:
        return sum(sum(by.values()) for name, by in self.github.state.calls_by_route().items() if route in name)

    def _items(self, table: str) -> dict[str, dict[str, Any]]:
        return {item["PK"]: item for item in items(self.world.dynamodb, table)}


def queued(scene: Scene, job_id: int, **about: Any) -> None:
    """Queued for an hour, on GitHub and in the ledger."""
    scene.receive(QUEUED, job_id, **about)
    scene.on_github(job_id, "queued", **about)


def ended(**about: Any) -> dict[str, Any]:
    return {
        "conclusion": "success",
        "started_at": ago(minutes=40),
        "completed_at": ago(minutes=30),
        "runner_id": 9,
        "runner_name": "a-runner",
        **about,
    }


def absences(scene: Scene) -> list[dict[str, Any]]:
    return [item for item in items(scene.world.dynamodb, RUNNERS) if item["PK"] == "absences"]


def a_while_passes(scene: Scene) -> None:
    """What GitHub did not know, it has not known for an hour."""
    for item in absences(scene):
        older = item | {"first_at": ago(hours=1).replace("Z", ".000Z")}
        scene.world.dynamodb.put_item(TableName=RUNNERS, Item=to_attributes(older))


def launched_without(scene: Scene, job_id: int, *unknown: str, **about: Any) -> None:
    scene.launch(job_id, scene.start_instance(), **dict.fromkeys(unknown), **about)


RAN = {"started_at": ago(minutes=50), "runner_id": 9}


def outlived(scene: Scene, job_id: int = 1, **github: Any) -> str:
    """A machine whose job is completed, and that was not stopped."""
    instance = scene.start_instance()
    name = f"runner--{instance}"
    scene.launch(job_id, instance)
    scene.receive(COMPLETED, job_id, **RAN, runner_name=name, completed_at=ago(minutes=30))
    scene.github.state.put("runners", 9, scope=REPO, name=name, **github)
    return instance


def lose(scene: Scene, guid: str, job_id: int = 1) -> None:
    """GitHub sends it and gets no response."""
    scene.github.state.configure(webhook_url=UNREACHABLE, webhook_secret=SECRET)
    scene.github.state.add_fault(kind="lost_delivery")
    scene.github.courier.send("workflow_job", payload(QUEUED, job_id=job_id), guid)
