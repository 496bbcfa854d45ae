"""Signed webhooks: Standard Webhooks headers, a CloudEvent in the body, and a result for whatever comes back."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from cloudevents.core.bindings.http import HTTPMessage, from_structured
from cloudevents.core.formats.json import JSONFormat
from cloudevents.core.v1.event import CloudEvent
from runledger.notifications.channels.configs import new_secret
from runledger.notifications.channels.connection import Http
from runledger.notifications.channels.interface import ChannelKind, SendOutcome, SendResult
from standardwebhooks import Webhook, WebhookVerificationError

from tests.notifications.channels.authority import Authority
from tests.notifications.channels.receivers import Behaviour, hangs_up, receiving, refusing, responds, sends
from tests.notifications.channels.scene import JOB, LOCAL, MESSAGE_ID, SECRET, event, now, opened, outgoing, resolving
from tests.support.channels import channel_settings

WEBHOOK = ChannelKind.WEBHOOK


def delivered(behaviour: Behaviour, **replaced: str) -> SendResult:
    with receiving(behaviour) as receiver:
        return opened(WEBHOOK, {"url": receiver.url}, [SECRET]).send(outgoing(**replaced))


def test_the_library_of_standard_webhooks_verifies_the_signature() -> None:
    with receiving(responds(204)) as receiver:
        result = opened(WEBHOOK, {"url": receiver.url}, [SECRET]).send(outgoing())
    assert result == SendResult.accepted()
    (request,) = receiver.requests
    assert request.headers["webhook-id"] == MESSAGE_ID
    assert Webhook(SECRET).verify(request.body, request.headers)["data"] == JOB
    with pytest.raises(WebhookVerificationError):
        Webhook(new_secret()).verify(request.body, request.headers)
    with pytest.raises(WebhookVerificationError):
        Webhook(SECRET).verify(request.body + b" ", request.headers)
    with pytest.raises(WebhookVerificationError):
        Webhook(SECRET).verify(request.body, request.headers | {"webhook-id": "another"})


def test_during_a_rotation_receivers_with_either_secret_verify_the_message() -> None:
    old, new = new_secret(), new_secret()
    with receiving(responds(200)) as receiver:
        opened(WEBHOOK, {"url": receiver.url}, [new, old]).send(outgoing())
    (request,) = receiver.requests
    assert len(request.headers["webhook-signature"].split(" ")) == 2
    for secret in (old, new):
        Webhook(secret).verify(request.body, request.headers)


def test_the_id_stays_and_the_time_changes_with_each_attempt() -> None:
    with receiving(responds(500), responds(200)) as receiver:
        channel = opened(WEBHOOK, {"url": receiver.url}, [SECRET])
        for seconds, attempt in ((100, 1), (10, 2)):
            moment = datetime.now(UTC) - timedelta(seconds=seconds)
            sent_at = moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
            channel.send(outgoing(sent_at=sent_at, attempt=attempt))
    first, second = (each.headers for each in receiver.requests)
    assert first["webhook-id"] == second["webhook-id"] == MESSAGE_ID
    assert int(second["webhook-timestamp"]) - int(first["webhook-timestamp"]) in (89, 90, 91)
    for request in receiver.requests:
        Webhook(SECRET).verify(request.body, request.headers)


def test_the_body_is_a_cloudevent_in_structured_mode() -> None:
    with receiving(responds(200)) as receiver:
        opened(WEBHOOK, {"url": receiver.url}, [SECRET]).send(outgoing())
    (request,) = receiver.requests
    message = HTTPMessage(headers={"content-type": request.headers["content-type"]}, body=request.body)
    found = from_structured(message, JSONFormat(), CloudEvent)
    assert (found.get_type(), found.get_source(), found.get_data()) == ("job.failed", "/v1/installations/41000001", JOB)


@pytest.mark.parametrize("text", ["\u00e4\U0001f4a9 <b>&", "\u2028\u202e\x00", "\\u0000", '"'])
def test_special_characters_arrive_unchanged_and_signed(text: str) -> None:
    with receiving(responds(200)) as receiver:
        opened(WEBHOOK, {"url": receiver.url}, [SECRET]).send(outgoing("audit.finished", {"text": text}))
    (request,) = receiver.requests
    assert Webhook(SECRET).verify(request.body, request.headers)["data"] == {"text": text}


@pytest.mark.parametrize("status", [200, 201, 202, 204, 206, 299])
def test_each_2xx_is_accepted(status: int) -> None:
    assert delivered(responds(status, body=b"\xff nonsense")) == SendResult.accepted()


def test_410_is_final() -> None:
    assert delivered(responds(410)) == SendResult.refused("HTTP 410 Gone")


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 409, 418, 422, 429, 500, 502, 503, 504, 599, 999])
def test_other_statuses_are_tried_later(status: int) -> None:
    result = delivered(responds(status, body=b"password=hunter2"))
    assert result.outcome is SendOutcome.TRY_LATER
    assert result.error is not None
    assert str(status) in result.error
    assert "hunter2" not in result.error
    assert "Whatever" not in result.error


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_tried_later_and_not_followed(status: int) -> None:
    with receiving(responds(200)) as other:
        result = delivered(responds(status, Location=other.url))
    assert result.outcome is SendOutcome.TRY_LATER
    assert "redirects aren't followed" in str(result.error)
    assert other.connections == 0


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("120", 120), ("0", 0), ("99999999999999999999", 86_400), ("soon", None), ("-5", None), ("", None), ("1.5", None)],
)
def test_the_receiver_may_request_a_pause_of_at_most_a_day(value: str, seconds: int | None) -> None:
    assert delivered(responds(429, Retry_After=value)).retry_after_seconds == seconds


def test_the_pause_may_be_a_date() -> None:
    later = datetime.now(UTC) + timedelta(seconds=300)
    result = delivered(responds(503, Retry_After=format_datetime(later, usegmt=True)), sent_at=now())
    assert result.retry_after_seconds is not None
    assert 295 <= result.retry_after_seconds <= 300
    past = datetime.now(UTC) - timedelta(days=300)
    assert delivered(responds(503, Retry_After=format_datetime(past, usegmt=True))).retry_after_seconds == 0


@pytest.mark.parametrize("behaviour", [hangs_up, sends(b"nonsense\r\n\r\n")])
def test_a_receiver_that_speaks_no_http_is_tried_later(behaviour: Behaviour) -> None:
    assert delivered(behaviour).outcome is SendOutcome.TRY_LATER


def test_a_receiver_that_is_down_is_tried_later() -> None:
    with refusing() as port:
        result = opened(WEBHOOK, {"url": f"http://127.0.0.1:{port}/hook"}, [SECRET]).send(outgoing())
    assert result == SendResult.try_later("the connection was refused")


def test_a_receiver_with_https_is_reached_by_its_name(http: Callable[..., Http], authority: Authority) -> None:
    with receiving(responds(200), tls=authority.server("hooks.example")) as receiver:
        client = http(resolve=resolving(hooks_example=["127.0.0.1"]))
        config = {"url": f"https://hooks.example:{receiver.port}/x"}
        assert opened(WEBHOOK, config, [SECRET], http=client).send(outgoing()) == SendResult.accepted()
    assert receiver.requests[0].line == "POST /x HTTP/1.1"


@pytest.mark.parametrize("address", ["10.0.0.7", "169.254.169.254", "fd00:ec2::254", "127.0.0.1"])
def test_a_name_with_a_private_address_is_refused_for_good(address: str) -> None:
    client = Http(resolve=resolving(hooks_example=[address]))
    channel = opened(WEBHOOK, {"url": "https://hooks.example/"}, [SECRET], http=client, settings=channel_settings())
    result = channel.send(outgoing())
    assert result.outcome is SendOutcome.REFUSED
    assert address not in str(result.error)


@pytest.mark.parametrize("secrets", [[], ["whsec_"], ["whsec_!!!"], ["plain"], ["whsec_\u00e4"]])
def test_nothing_is_sent_without_a_valid_secret(secrets: list[str]) -> None:
    with receiving(responds(200)) as receiver:
        result = opened(WEBHOOK, {"url": receiver.url}, secrets).send(outgoing())
    assert (result.outcome, receiver.connections) == (SendOutcome.REFUSED, 0)


def test_nothing_is_sent_to_the_deployment_itself() -> None:
    with receiving(responds(200)) as receiver:
        settings = channel_settings(allow_loopback=True, deployment_urls=(f"http://127.0.0.1:{receiver.port}",))
        result = opened(WEBHOOK, {"url": receiver.url}, [SECRET], settings=settings).send(outgoing())
    assert (result.outcome, receiver.connections) == (SendOutcome.REFUSED, 0)
    assert LOCAL.deployment_urls == ()


def test_an_event_with_bytes_instead_of_data_is_sent_as_it_is() -> None:
    envelope = {name: value for name, value in event().items() if name != "data"} | {"data_base64": "e30="}
    with receiving(responds(200)) as receiver:
        opened(WEBHOOK, {"url": receiver.url}, [SECRET]).send(outgoing(envelope=envelope))
    assert json.loads(receiver.requests[0].body)["data_base64"] == "e30="
