"""Signed webhooks: a CloudEvent in the body, and the headers of Standard Webhooks."""

from collections.abc import Sequence

from runledger.model.dataclass import dataclass
from runledger.notifications.channels.connection import Http
from runledger.notifications.channels.interface import Outgoing, SendResult
from runledger.notifications.channels.posting import post
from runledger.notifications.channels.signatures import standard_headers
from runledger.notifications.channels.urls import Target
from runledger.platform.encoding import to_json

# The structured mode of CloudEvents over HTTP.
CONTENT_TYPE = "application/cloudevents+json; charset=UTF-8"


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook:
    """`secrets` has the newest first, and more than one during a rotation."""

    http: Http
    target: Target
    secrets: Sequence[str]

    def send(self, outgoing: Outgoing) -> SendResult:
        body = to_json(outgoing.envelope).encode()
        try:
            signed = standard_headers(outgoing.message_id, body, sent_at=outgoing.sent_at, secrets=self.secrets)
        except ValueError:
            return SendResult.refused("the secret of the subscription isn't valid: rotate it")
        return post(self.http, self.target, body, {"Content-Type": CONTENT_TYPE, **signed}, sent_at=outgoing.sent_at)
