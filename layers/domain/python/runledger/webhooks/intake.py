"""Webhook intake: verify, read, check the scope, record. If recording fails, the input goes to the retry queue."""

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

from runledger.model.dataclass import dataclass
from runledger.model.errors import Malformed, OutOfScope, TooLarge, UnavailableError
from runledger.model.inputs import Receipt
from runledger.model.reports import Input, InstallationReport
from runledger.recording import telemetry
from runledger.recording.ledger import Ledger
from runledger.webhooks import hosts
from runledger.webhooks.delivery import Delivery
from runledger.webhooks.readers import dispatcher
from runledger.webhooks.retry_queue import RetryQueue
from runledger.webhooks.signatures import REREAD_SECONDS, Origin, Signers, WebhookSecrets

if TYPE_CHECKING:  # without the setting `releases`, intake doesn't load it
    from runledger.webhooks.publication_intake import PublicationIntake

LARGEST_BODY = 5_000_000
LONGEST_DELIVERY_ID = 100


class IntakeResult(StrEnum):
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
    host: str  # the GitHub host that this deployment serves
    copy: Callable[[Delivery, Receipt, IntakeResult], None] | None = None  # to S3; it must not fail the webhook
    publications: "PublicationIntake | None" = None  # with the setting `releases` only

    def receive(self, delivery: Delivery, signature: str | None) -> IntakeResult:
        if len(delivery.body) > LARGEST_BODY:
            raise TooLarge(f"the body has {len(delivery.body):,} bytes; the limit is {LARGEST_BODY:,}")
        signers = self.secrets.verify(delivery.body, signature)
        _check_headers(delivery)
        hosts.check(delivery.host, served=self.host)
        if delivery.event == "ping":
            return IntakeResult.PONG
        if self.publications and delivery.event in self.publications.events:
            return self._forward(self.publications, delivery, signature, signers)
        inputs = dispatcher.read(delivery)
        origins = [_origin(received) for received in inputs]
        if not signers.cover(origins):
            self._check_scope_again(delivery, signature, origins)
        results = [self._record(received) for received in inputs]
        if self.copy:
            for received, result in zip(inputs, results, strict=True):
                if isinstance(received, Receipt):
                    self.copy(delivery, received, result)
        return results[0] if results else IntakeResult.IGNORED

    def _forward(
        self, publications: "PublicationIntake", delivery: Delivery, signature: str | None, signers: Signers
    ) -> IntakeResult:
        """Sends the publication to its queue."""
        publication = publications.read(delivery)
        if publication is None:
            return IntakeResult.IGNORED
        origins = [Origin(publication.installation_id, publication.repo_full_name)]
        if not signers.cover(origins):
            self._check_scope_again(delivery, signature, origins)
        publications.send(publication, delivery.body_digest)
        return IntakeResult.RECORDED

    def _check_scope_again(self, delivery: Delivery, signature: str | None, origins: Sequence[Origin]) -> None:
        """The scope may have been widened since the secrets were read."""
        if not self.secrets.verify(delivery.body, signature, max_age=REREAD_SECONDS).cover(origins):
            raise OutOfScope(_explain(delivery.event, origins[0]))

    def _record(self, received: Input) -> IntakeResult:
        try:
            decision = self.ledger.dispatch(received)
        except UnavailableError as error:
            telemetry.deferred(received, error)
            self.retries.put(received)
            return IntakeResult.DEFERRED
        return IntakeResult(decision.outcome) if decision else IntakeResult.RECORDED


def _origin(received: Input) -> Origin:
    """Taken from the input, not from the body: the check must cover the keys that are written."""
    match received:
        case Receipt():
            return Origin(received.installation_id, received.facts.repo_full_name)
        case InstallationReport():
            return Origin(received.installation_id, None)
        case _:
            return Origin(received.installation_id, received.repo_full_name)


def _explain(event: str, origin: Origin) -> str:
    where = f"installation {origin.installation_id}"
    if origin.repo_full_name:
        where = f"repository {origin.repo_full_name} of {where}"
    return (
        f"the secret of this webhook isn't valid for {event} deliveries of {where}: "
        "use a secret that is, or extend the scope of this one in Secrets Manager"
    )


def _check_headers(delivery: Delivery) -> None:
    if not delivery.event:
        raise Malformed("X-GitHub-Event", "is missing")
    # `isprintable` also rejects lone surrogates, which can't be stored.
    if not 0 < len(delivery.delivery_id) <= LONGEST_DELIVERY_ID or not delivery.delivery_id.isprintable():
        raise Malformed("X-GitHub-Delivery", f"must have 1 to {LONGEST_DELIVERY_ID} printable characters")
