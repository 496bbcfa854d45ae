"""What GitHub knows once all of the demo has happened, and also what it never told."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from local.github.records import Deployment, Installation, Job, Record, Run

if TYPE_CHECKING:
    from collections.abc import Iterable

    from local.payloads.subjects import Delivery, Payload


def records(deliveries: Iterable[Delivery]) -> list[Record]:
    """Return them in an order in which they can be put: a run before its jobs."""
    state = _State()
    for each in sorted(deliveries, key=lambda each: each.happened_at):
        state.learn(each.event, each.payload)
    known = (state.installations, state.runs, state.jobs, state.deployments)
    return [record for collection in known for record in collection.values()]


class _State:
    """GitHub's own account of things, in the order in which they happened and not in that of sending."""

    def __init__(self) -> None:
        self.installations: dict[int, Installation] = {}
        self.runs: dict[int, Run] = {}
        self.jobs: dict[int, Job] = {}
        self.deployments: dict[int, Deployment] = {}

    def learn(self, event: str, said: Payload) -> None:
        match event:
            case "installation":
                self._installation(said["action"], said["installation"])
            case "workflow_run":
                self._run(said["workflow_run"], said["repository"]["full_name"])
            case "workflow_job":
                job = said["workflow_job"]
                self.jobs[job["id"]] = Job(**_shared(Job, job))
            case "deployment":
                self._deployment(said)
            case "deployment_status":
                self._status(said["deployment"]["id"], said["deployment_status"])
            case "deployment_review":
                self._review(said["workflow_run"]["id"], said.get("reviewers", []))

    def _installation(self, action: str, said: Payload) -> None:
        if action == "deleted":
            del self.installations[said["id"]]
        else:
            account = {"account": said["account"]["login"], "account_type": said["account"]["type"]}
            self.installations[said["id"]] = Installation(
                **_shared(Installation, said) | account | {"repository_selection": "all"}  # else nothing is cleaned up
            )

    def _run(self, said: Payload, repository: str) -> None:
        """Only a finished run says its status: an open one follows its jobs."""
        status = said["status"] if said["status"] == "completed" else None
        values = {"repository": repository, "actor": said["actor"]["login"], "status": status}
        self.runs[said["id"]] = Run(**_shared(Run, said) | values)

    def _deployment(self, said: Payload) -> None:
        deployment = said["deployment"]
        values = {
            "repository": said["repository"]["full_name"],
            "run_id": said["workflow_run"]["id"],
            "creator": deployment["creator"]["login"],
        }
        self.deployments[deployment["id"]] = Deployment(**_shared(Deployment, deployment) | values)

    def _status(self, deployment_id: int, said: Payload) -> None:
        known = self.deployments[deployment_id]
        latest = {"state": said["state"], "created_at": said["created_at"]}
        self.deployments[deployment_id] = replace(known, statuses=[*known.statuses, latest])

    def _review(self, run_id: int, asked: list[Payload]) -> None:
        """Somebody is asked, or nobody any more; a review names a run, and each run of the demo has one deployment."""
        reviewers = [each["reviewer"]["login"] for each in asked]
        for known in self.deployments.values():
            if known.run_id == run_id:
                self.deployments[known.id] = replace(known, awaits_approval=bool(asked), reviewers=reviewers)


def _shared(record: type[Record], said: Payload) -> dict[str, Any]:
    """Return what a record and GitHub's payload call by the same name."""
    return {field.name: said[field.name] for field in fields(record) if field.name in said}
