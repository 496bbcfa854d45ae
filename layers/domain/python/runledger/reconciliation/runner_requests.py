"""Requests for a runner: an event on the bus for launchers, and an event in the job's history."""

import json
from collections.abc import Callable
from typing import Any

from runledger.model.dataclass import dataclass
from runledger.model.errors import UnavailableError
from runledger.model.inputs import EventType, Facts, Receipt, Source
from runledger.model.job import Job
from runledger.platform.availability import translate_errors
from runledger.recording.decision import Decision, Outcome

SOURCE = "runledger"
VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class RunnerRequests:
    events: Any
    bus: str
    record: Callable[[Receipt], Decision]

    def request(self, job: Job, *, at: str) -> Decision | None:
        """None if another pass made this request, or if that can't be ruled out.

        The request is recorded before it is sent, so only one pass sends it. After a crash in between,
        it is never sent. The next request follows after the usual pause.
        """
        number = (job.runner_requests or 0) + 1
        request_id = f"runner request {number} for {job.installation_id}#{job.job_id}"
        decision = self.record(
            Receipt(
                installation_id=job.installation_id,
                job_id=job.job_id,
                delivery_id=request_id,
                received_at=at,
                event_type=EventType.RUNNER_REQUESTED,
                source=Source.INTERNAL,
                action=f"request {number}",
                releases=job.instance_id,
                facts=Facts(runner_requests=number, runner_requested_at=at),
            )
        )
        if decision.outcome is not Outcome.RECORDED or decision.may_be_saved_by_another:
            return None
        self._send(_detail(job, number, request_id, at))
        return decision

    @translate_errors("the event bus")
    def _send(self, detail: dict[str, Any]) -> None:
        message = {
            "Source": SOURCE,
            "DetailType": str(EventType.RUNNER_REQUESTED),
            "EventBusName": self.bus,
            "Detail": json.dumps(detail),
        }
        response = self.events.put_events(Entries=[message])
        if response["FailedEntryCount"]:
            raise UnavailableError(f"the event bus rejected a runner request: {response['Entries']}")


def _detail(job: Job, number: int, request_id: str, at: str) -> dict[str, Any]:
    """Matches docs/runner-requested.v1.schema.json."""
    detail = {
        "version": VERSION,
        "event_id": request_id,
        "installation_id": job.installation_id,
        "job_id": job.job_id,
        "run_id": job.run_id,
        "run_attempt": job.run_attempt,
        "repo_full_name": job.repo_full_name,
        "labels": list(job.labels or ()),
        "request": number,
        "requested_at": at,
        "queued_at": job.created_at,
        "previous_runner_id": job.instance_id,
    }
    return {name: value for name, value in detail.items() if value is not None}
