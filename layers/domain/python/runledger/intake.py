"""Taking in a webhook: verify, read, record; and when recording must wait, keep it where it cannot be lost."""

from dataclasses import dataclass
from enum import StrEnum

from runledger import telemetry
from runledger.deliveries import Delivery
from runledger.errors import Malformed, TooLarge, UnavailableError
from runledger.ledger import Ledger
from runledger.model import Receipt
from runledger.reading import webhooks
from runledger.reports import Report
from runledger.retries import RetryQueue
from runledger.signatures import WebhookSecrets

LARGEST_BODY = 5_000_000
LONGEST_DELIVERY_ID = 100


class Answer(StrEnum):
    PONG = "pong"
    IGNORED = "ignored"
    RECORDED = "recorded"
    DUPLICATE = "duplicate"
    REPEATED = "repeated"
    DEFERRED = "deferred"


@dataclass(frozen=True, slots=True, kw_only=True)
class Intake:
    secrets: WebhookSecrets
    ledger: Ledger
    retries: RetryQueue

    def receive(self, delivery: Delivery, signature: str | None) -> Answer:
        if len(delivery.body) > LARGEST_BODY:
            raise TooLarge(f"the body has {len(delivery.body):,} bytes; {LARGEST_BODY:,} are taken")
        self.secrets.verify(delivery.body, signature)
        _check_headers(delivery)
        if delivery.event == "ping":
            return Answer.PONG
        answers = [self._take(said) for said in webhooks.read(delivery)]
        return answers[0] if answers else Answer.IGNORED

    def _take(self, said: Receipt | Report) -> Answer:
        try:
            decision = self.ledger.take(said)
        except UnavailableError as trouble:
            telemetry.deferred(said, trouble)
            self.retries.put(said)
            return Answer.DEFERRED
        telemetry.taken(said, decision)
        return Answer(decision.outcome) if decision else Answer.RECORDED


def _check_headers(delivery: Delivery) -> None:
    if not delivery.event:
        raise Malformed("X-GitHub-Event", "is missing")
    if not 0 < len(delivery.delivery_id) <= LONGEST_DELIVERY_ID:
        raise Malformed("X-GitHub-Delivery", f"must have 1 to {LONGEST_DELIVERY_ID} characters")
