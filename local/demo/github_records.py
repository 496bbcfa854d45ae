"""The records of the simulated GitHub after the demo, including those whose webhooks were lost."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from local.github.records import Deployment, Installation, Job, Record, Run

if TYPE_CHECKING:
    from collections.abc import Iterable

    from local.demo.payloads.entities import Delivery, Payload


def records(deliveries: Iterable[Delivery]) -> list[Record]:
    """Return the records in the order in which they must be created: a run before its jobs."""
    state = _State()
    for each in sorted(deliveries, key=lambda each: each.happened_at):
        state.apply(each.event, each.payload)
    known = (state.installations, state.runs, state.jobs, state.deployments)
    return [record for collection in known for record in collection.values()]


class _State:
    """Applies deliveries in the order in which they happened, which isn't the order in which they are sent."""

    def __init__(self) -> None:
        self.installations: dict[int, Installation] = {}
        self.runs: dict[int, Run] = {}
        self.jobs: dict[int, Job] = {}
        self.deployments: dict[int, Deployment] = {}

    def apply(self, event: str, payload: Payload) -> None:
        match event:
            case "installation":
                self._installation(payload["action"], payload["installation"])
            case "workflow_run":
                self._run(payload["workflow_run"], payload["repository"]["full_name"])
            case "workflow_job":
                job = payload["workflow_job"]
                self.jobs[job["id"]] = Job(**_shared(Job, job))
            case "deployment":
                self._deployment(payload)
            case "deployment_status":
                self._status(payload["deployment"]["id"], payload["deployment_status"])
            case "deployment_review":
                self._review(payload["workflow_run"]["id"], payload.get("reviewers", []))

    def _installation(self, action: str, payload: Payload) -> None:
        if action == "deleted":
            del self.installations[payload["id"]]
        else:
            account = {"account": payload["account"]["login"], "account_type": payload["account"]["type"]}
            self.installations[payload["id"]] = Installation(
                **_shared(Installation, payload) | account | {"repository_selection": "all"}  # required for cleanup
            )

    def _run(self, payload: Payload, repository: str) -> None:
        """Sets the status of a finished run only; that of an open run follows its jobs."""
        status = payload["status"] if payload["status"] == "completed" else None
        values = {
            "repository": repository,
            "actor": payload["actor"]["login"],
            "status": status,
            "committed_at": payload["head_commit"]["timestamp"],
        }
        self.runs[payload["id"]] = Run(**_shared(Run, payload) | values)

    def _deployment(self, payload: Payload) -> None:
        deployment = payload["deployment"]
        values = {
            "repository": payload["repository"]["full_name"],
            "run_id": payload["workflow_run"]["id"],
            "creator": deployment["creator"]["login"],
        }
        self.deployments[deployment["id"]] = Deployment(**_shared(Deployment, deployment) | values)

    def _status(self, deployment_id: int, payload: Payload) -> None:
        known = self.deployments[deployment_id]
        latest = {"state": payload["state"], "created_at": payload["created_at"]}
        self.deployments[deployment_id] = replace(known, statuses=[*known.statuses, latest])

    def _review(self, run_id: int, requested: list[Payload]) -> None:
        """Sets or clears the requested reviewers. A review names a run; each run of the demo has one deployment."""
        reviewers = [each["reviewer"]["login"] for each in requested]
        for known in self.deployments.values():
            if known.run_id == run_id:
                self.deployments[known.id] = replace(known, awaits_approval=bool(requested), reviewers=reviewers)


def _shared(record: type[Record], payload: Payload) -> dict[str, Any]:
    """Return the fields that have the same name in the record and in GitHub's payload."""
    return {field.name: payload[field.name] for field in fields(record) if field.name in payload}
