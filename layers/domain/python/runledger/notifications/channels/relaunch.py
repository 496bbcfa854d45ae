"""The relaunch channel: sends a launcher the webhook `workflow_job queued` of a job without a runner, as GitHub would.

Launchers act on that webhook, so they need no change. It is signed with the launcher's own secret. It doesn't contain
Runledger's installation, because the launcher would request a token for it, and its App has another installation.
Launchers look up the installation if it is absent. For those that don't, set `installation_id` in the subscription.
"""

import uuid
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from runledger.feeds.events import FeedType
from runledger.model import times
from runledger.model.dataclass import dataclass
from runledger.model.inputs import Status
from runledger.notifications.channels import github_payloads
from runledger.notifications.channels.connection import Http
from runledger.notifications.channels.interface import Outgoing, SendResult
from runledger.notifications.channels.posting import post
from runledger.notifications.channels.signatures import github_signature
from runledger.notifications.channels.urls import Target
from runledger.notifications.texts import RunledgerType
from runledger.platform.encoding import to_json

WAITING = {Status.QUEUED, Status.SCHEDULED}


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits for runner requests. The reconciler applies them when it requests a runner, and this channel applies them
    again.
    """

    requests_at_most: int
    first_pause_minutes: int

    def seconds_valid(self, request: int) -> int:
        """Until the reconciler may make the next request, so that two requests don't launch two runners for one job."""
        return self.first_pause_minutes * times.SECONDS_PER_MINUTE << max(0, request - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Relaunch:
    """`config` has the owner's type, and optionally the launcher's installation."""

    http: Http
    target: Target
    secret: str
    limits: Limits
    config: Mapping[str, Any] = field(default_factory=dict)

    def send(self, outgoing: Outgoing) -> SendResult:
        kind = outgoing.envelope["type"]
        if kind == RunledgerType.TEST:
            return self._post(outgoing, "ping", github_payloads.ping())
        if kind != FeedType.RUNNER_REQUESTED:
            return SendResult.refused(f"a relaunch channel sends {FeedType.RUNNER_REQUESTED} only")
        job = outgoing.envelope.get("data")
        job = job if isinstance(job, Mapping) else {}
        if problem := self._problem(job, outgoing):
            return SendResult.refused(problem)
        return self._post(outgoing, "workflow_job", github_payloads.queued(job, **self.config))

    def _problem(self, job: Mapping[str, Any], outgoing: Outgoing) -> str | None:
        """Why this request isn't sent; None if it is."""
        if problem := github_payloads.missing(job):
            return problem
        if job.get("status") not in WAITING:
            return f"the job is {job.get('status')}, so it needs no runner"
        request = job.get("runner_requests", 1)
        if request > self.limits.requests_at_most:
            return f"request {request} exceeds runner_requests_at_most"
        requested_at = job.get("runner_requested_at") or outgoing.envelope["time"]
        age_ms = times.ms_between(requested_at, outgoing.sent_at)
        if age_ms >= self.limits.seconds_valid(request) * times.MS_PER_SECOND:
            return "the request is too old: a newer one may have been made"
        if "installation_id" in self.config and self.config["installation_id"] == job.get("installation_id"):
            return "installation_id is Runledger's: it must be the installation of the launcher's GitHub App"
        return None

    def _post(self, outgoing: Outgoing, event: str, payload: Mapping[str, Any]) -> SendResult:
        body = to_json(payload).encode()
        headers = {
            "X-GitHub-Event": event,
            "X-GitHub-Delivery": delivery_id(outgoing.message_id),
            "X-Hub-Signature-256": github_signature(body, self.secret),
            "User-Agent": "GitHub-Hookshot/runledger",
        }
        return post(self.http, self.target, body, headers, sent_at=outgoing.sent_at)


def delivery_id(message_id: str) -> str:
    """In GitHub's format, and the same for each attempt, so that launchers recognise a repeated delivery."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"urn:runledger:message:{message_id}"))
