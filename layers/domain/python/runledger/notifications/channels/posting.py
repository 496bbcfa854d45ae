"""Sends a channel's request over HTTP, and converts the response to a result."""

from collections.abc import Callable, Collection, Mapping

from runledger.model.dataclass import dataclass
from runledger.notifications.channels import responses
from runledger.notifications.channels.connection import Http, NoResponse, NotPublic
from runledger.notifications.channels.interface import Outgoing, SendResult
from runledger.notifications.channels.urls import Target

JSON = "application/json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusing:
    """The channel of a subscription whose configuration is no longer valid."""

    reason: str

    def send(self, outgoing: Outgoing) -> SendResult:  # noqa: ARG002
        return SendResult.refused(self.reason)


def post(
    http: Http,
    target: Target,
    body: bytes,
    headers: Mapping[str, str],
    *,
    sent_at: str,
    refusals: Collection[int] = responses.GONE,
    id_in: Callable[[bytes], str | None] = lambda _: None,
) -> SendResult:
    """`id_in` finds the receiver's id for the message in the response body. `refusals` are the final statuses."""
    try:
        response = http.post(target, body, {"Content-Type": JSON, **headers})
    except NotPublic as problem:
        return SendResult.refused(str(problem))
    except NoResponse as problem:
        return SendResult.try_later(str(problem))
    return responses.result(
        response.status,
        response.headers,
        sent_at=sent_at,
        refusals=refusals,
        notification_id=id_in(response.body) if responses.is_success(response.status) else None,
    )
