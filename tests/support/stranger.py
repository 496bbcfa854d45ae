"""A stranger: an administrator of a repository in another installation, with a genuine GitHub account."""

import json
from typing import Any

from tests.support.beds import items
from tests.support.ledgers import JOBS
from tests.support.reconciler_scene import Scene, ago
from tests.support.runner_events import batch, launcher
from tests.support.webhooks import COMPLETED, IN_PROGRESS, http_event, payload

INSTALLATION, REPO = 666, "mallory/prank"
ACCOUNT = REPO.partition("/")[0]


class Stranger:
    def __init__(self, scene: Scene, *, installation_id: int = INSTALLATION, repo: str = REPO) -> None:
        self.scene, self.installation_id, self.repo = scene, installation_id, repo
        if installation_id not in scene.github.state.installations:
            scene.github.state.put("installations", installation_id, account=repo.partition("/")[0])

    def run_job_on(self, instance_id: str, *, job_id: int = 6661, completed: bool = True) -> None:
        """A runner that the stranger registered under the machine's id runs one job."""
        name = f"x-{instance_id}"
        self.scene.github.state.put("runners", 660, scope=self.repo, name=name, busy=False)
        ran = {"started_at": ago(minutes=40), "runner_id": 660, "runner_name": name}
        self.webhook(IN_PROGRESS, job_id, **ran)
        if completed:
            self.webhook(COMPLETED, job_id, **ran, completed_at=ago(minutes=30))
        for message in self.scene.world.waiting("lookups"):
            self.scene.world.invoke("runner_lookup", {"Records": [message]})

    def webhook(self, step: str, job_id: int, **changes: Any) -> None:
        message = payload(step, job_id=job_id, created_at=ago(hours=1), **changes)
        message["installation"] = {"id": self.installation_id}
        owner = self.repo.partition("/")[0]
        message["repository"] |= {"full_name": self.repo, "owner": {"login": owner}}
        message["organization"] = {"login": owner}
        event = http_event(json.dumps(message).encode(), guid=f"{step} {job_id} {self.repo}")
        assert self.scene.world.invoke("webhook_intake", event)["statusCode"] == 202

    def publish(self, detail_type: str, instance_id: str, **more: Any) -> Any:
        """An event on the bus, of the publisher that the settings allow for this installation alone."""
        about = {"installation_id": self.installation_id, "repo_full_name": self.repo, **more}
        event = launcher(detail_type, job_id=6662, runner_id=instance_id, **about)
        return self.scene.world.invoke("scheduling_events", batch(event | {"time": ago(minutes=20)}))

    def job(self, job_id: int = 6661) -> dict[str, Any]:
        jobs = items(self.scene.world.dynamodb, JOBS)
        return next(each for each in jobs if each["PK"] == f"{self.installation_id}#{job_id}")
