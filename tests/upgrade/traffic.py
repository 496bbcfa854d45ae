"""Signed webhooks, sent without a pause, with what became of each."""

import itertools
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPException

from local.aws.outputs import Outputs
from local.github import webhooks
from tests.support.webhooks import COMPLETED, IN_PROGRESS, INSTALLATION, QUEUED, payload

ACCEPTED = 202
FIRST_JOB, RUN = 5_000_000, 5_000_000_000
PAUSE_SECONDS = 0.15
FORGED_EVERY = 10
NO_INSTANCE = "a-name-that-leads-to-no-instance"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """`refusal` is why a delivery wasn't accepted: the response, or the connection's error."""

    guid: str
    key: str
    body: bytes
    forged: bool
    refusal: str | None


@dataclass
class Traffic:
    outputs: Outputs
    sent: list[Sent] = field(default_factory=list)

    @contextmanager
    def flowing(self) -> Iterator[None]:
        stop = threading.Event()
        sender = threading.Thread(target=self._send_until, args=[stop])
        sender.start()
        try:
            yield
        finally:
            stop.set()
            sender.join()

    @property
    def accepted(self) -> list[Sent]:
        return [each for each in self.sent if each.refusal is None]

    def redeliver(self, delivery: Sent) -> Sent:
        """Redeliver as GitHub does: the same body under the same id."""
        return self._deliver(delivery.guid, delivery.key, delivery.body, forged=delivery.forged)

    def _send_until(self, stop: threading.Event) -> None:
        for number in itertools.count():
            job_id, step = FIRST_JOB + number // 3, (QUEUED, IN_PROGRESS, COMPLETED)[number % 3]
            body = json.dumps(payload(step, job_id=job_id, run_id=RUN, runner_name=NO_INSTANCE)).encode()
            forged = number % FORGED_EVERY == FORGED_EVERY - 1
            self.sent.append(self._deliver(f"traffic-{number}", f"{INSTALLATION}#{job_id}", body, forged=forged))
            if stop.wait(PAUSE_SECONDS):
                return

    def _deliver(self, guid: str, key: str, body: bytes, *, forged: bool) -> Sent:
        secret = "a-secret-that-is-not-ours" if forged else self.outputs.webhook_secret
        headers = webhooks.headers("workflow_job", body, secret, delivery_id=guid)
        try:
            response = webhooks.post(self.outputs.webhook_url, body, headers)
            refusal = (
                None if response.status == ACCEPTED else f"{response.status}: {response.body.decode(errors='replace')}"
            )
        except (OSError, HTTPException) as error:
            refusal = repr(error)
        return Sent(guid=guid, key=key, body=body, forged=forged, refusal=refusal)
