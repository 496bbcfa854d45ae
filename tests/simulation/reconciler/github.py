"""GitHub in memory: the endpoints of `local.github` without sockets, keys or waiting."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from runledger_github.credentials import AppKey

from local.github.courier import RETENTION
from local.github.credentials import Credentials
from local.github.dispatch import dispatch
from local.github.messages import Request, Site
from local.github.records import Delivery, Job, Run
from local.github.shapes.accounts import account, repository
from local.github.shapes.apps import installation as installation_shape
from local.github.shapes.runs import job as job_shape
from local.github.shapes.runs import run as run_shape
from local.github.state import State, timestamp
from tests.simulation.clock import Clock

HOST = "github.invalid"
SITE = Site(html=f"https://{HOST}", api=f"https://{HOST}")
LOST = 502
Send = Callable[[Delivery], bool]


@dataclass(frozen=True, slots=True)
class Response:
    """A response as urllib3 returns it; the names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    data: bytes


class Unsigned(Credentials):
    """Every claim of a JWT is checked, but none is signed: RSA would take most of a play's time."""

    def __init__(self) -> None:
        self._tokens = {}
        self.private_key = "-----BEGIN nothing-----"

    def _verified_claims(self, jwt: str) -> dict[str, Any]:
        claims: dict[str, Any] = json.loads(jwt)
        return claims


class UnsignedKey(AppKey):
    def _sign(self, claims: dict[str, Any]) -> str:
        return json.dumps(claims)


class Deliveries:
    """Stands where `local.github.courier` is: `send` hands a webhook over at once, `later` is for redeliveries."""

    def __init__(self, state: State, send: Send, later: Callable[[Delivery], None]) -> None:
        self._state = state
        self._send = send
        self._later = later

    def deliver(self, event: str, body: bytes, guid: str, *, redelivery: bool = False) -> None:
        self._log(event, body, guid, self._send, redelivery=redelivery)

    def log_failure(self, event: str, body: bytes, guid: str) -> None:
        self.log_attempt(event, body, guid, delivered=False)

    def log_attempt(self, event: str, body: bytes, guid: str, *, delivered: bool, redelivery: bool = False) -> None:
        self._log(event, body, guid, lambda _: delivered, redelivery=redelivery)

    def _log(self, event: str, body: bytes, guid: str, send: Send, *, redelivery: bool) -> None:
        delivery = Delivery(
            id=self._state.new_id(),
            guid=guid,
            event=event,
            body=body,
            redelivery=redelivery,
            delivered_at=timestamp(self._state.now()),
            duration=0.1,
            status="",
            status_code=0,
            request_headers={},
            response_headers=None,
            response_body=None,
        )
        self._state.deliveries.append(replace(delivery, status_code=202 if send(delivery) else LOST))

    def redeliver(self, delivery: Delivery) -> None:
        self._later(delivery)

    def log(self) -> list[Delivery]:
        oldest = timestamp(self._state.now() - RETENTION)
        return [each for each in self._state.deliveries[::-1] if each.delivered_at >= oldest]


class GitHub:
    def __init__(self, clock: Clock, send: Send, later: Callable[[Delivery], None]) -> None:
        self._clock = clock
        self.state = State(self._now, Unsigned())
        self.state.settings = replace(self.state.settings, webhook_url=f"{SITE}/webhooks/github")
        self.deliveries = Deliveries(self.state, send, later)

    def _now(self) -> datetime:
        return datetime.fromtimestamp(self._clock.now(), UTC)

    def time(self) -> str:
        """The time as GitHub writes it."""
        return timestamp(self._now())

    def respond(self, method: str, target: str, headers: Mapping[str, str]) -> Response:
        request = Request(method, target, {"host": HOST, **{name.lower(): each for name, each in headers.items()}}, b"")
        given = dispatch(self.state, self.deliveries, request, self._clock.advance)  # type: ignore[arg-type]
        return Response(given.status, {name.lower(): value for name, value in given.headers.items()}, given.body)

    def job_webhook(self, job: Job, installation_id: int) -> dict[str, Any]:
        run = self.state.runs[job.run_id]
        return {"action": job.status, "workflow_job": job_shape(SITE, job, run), **_around(run, installation_id)}

    def run_webhook(self, run: Run, action: str, installation_id: int) -> dict[str, Any]:
        jobs = [each for each in self.state.jobs.values() if each.run_id == run.id]
        shape = run_shape(SITE, run, run.run_attempt, jobs)
        return {"action": action, "workflow_run": shape, **_around(run, installation_id)}

    def installation_webhook(self, action: str, installation_id: int, changed_at: str) -> dict[str, Any]:
        shape = installation_shape(SITE, self.state.installations[installation_id])
        return {"action": action, "installation": shape | {"updated_at": changed_at}, "repositories": []}


def _around(run: Run, installation_id: int) -> dict[str, Any]:
    owner = run.repository.partition("/")[0]
    return {
        "repository": repository(SITE, run.repository),
        "organization": account(SITE, owner, "Organization"),
        "installation": {"id": installation_id},
    }
