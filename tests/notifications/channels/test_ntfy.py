"""Messages to a topic of ntfy."""

import json
from typing import Any

import pytest
from runledger.notifications.channels.interface import ChannelKind, SendOutcome, SendResult
from runledger.notifications.channels.ntfy import LONGEST_MESSAGE_BYTES

from tests.notifications.channels.receivers import Behaviour, receiving, responds
from tests.notifications.channels.scene import JOB, opened, outgoing

NTFY = ChannelKind.NTFY
PUBLISHED = responds(200, body=b'{"id":"hwQ2YpKdmg","event":"message","topic":"hook"}')


def sent(config: dict[str, Any], kind: str = "job.failed", data: Any = None) -> dict[str, Any]:
    with receiving(PUBLISHED) as receiver:
        opened(NTFY, {"url": receiver.url, **config}).send(outgoing(kind, data))
    found: dict[str, Any] = json.loads(receiver.requests[0].body)
    return found


def test_a_message_is_published_as_json_to_the_server_of_the_topic() -> None:
    with receiving(PUBLISHED) as receiver:
        result = opened(NTFY, {"url": receiver.url}).send(outgoing())
    assert result == SendResult.accepted("hwQ2YpKdmg")
    (request,) = receiver.requests
    assert request.line == "POST / HTTP/1.1"
    assert "authorization" not in request.headers
    assert json.loads(request.body) == {
        "topic": "hook",
        "title": "Job failed: build in acme/storefront",
        "message": "CI, branch main\nconclusion failure",
        "priority": 4,
        "tags": ["x"],
        "click": "https://github.com/acme/storefront/actions/runs/4001/job/5001",
    }


def test_the_token_is_sent_to_the_server_of_the_topic() -> None:
    with receiving(PUBLISHED) as receiver:
        opened(NTFY, {"url": receiver.url}, ["tk_secret"]).send(outgoing())
    assert receiver.requests[0].headers["authorization"] == "Bearer tk_secret"


def test_the_topic_of_a_public_server_may_be_the_secret() -> None:
    with receiving(PUBLISHED) as receiver:
        result = opened(NTFY, {}, [receiver.url]).send(outgoing())
    assert result.outcome is SendOutcome.ACCEPTED
    assert json.loads(receiver.requests[0].body)["topic"] == "hook"
    assert "authorization" not in receiver.requests[0].headers


def test_the_subscription_may_fix_priority_and_tags() -> None:
    found = sent({"priority": 1, "tags": ["ci"]})
    assert (found["priority"], found["tags"]) == (1, ["x", "ci"])


def test_a_message_of_a_person_has_its_own_priority_tags_and_link() -> None:
    data = {"title": "Freeze", "text": "No deployments today", "priority": 5, "tags": ["lock", "no tag", 7]}
    found = sent({}, "runledger.message", data | {"click_url": "https://x.example/"})
    assert found == {
        "topic": "hook",
        "title": "Freeze",
        "message": "No deployments today",
        "priority": 5,
        "tags": ["lock"],
        "click": "https://x.example/",
    }


def test_a_long_message_is_shortened_to_whole_characters() -> None:
    found = sent({}, "runledger.message", {"text": "\n".join("\u00e4" * 400 for _ in range(40))})
    assert len(found["message"].encode()) <= LONGEST_MESSAGE_BYTES + 3
    assert set(found["message"]) == {"\u00e4", "\n", "…"}


def test_a_header_cannot_be_injected_by_a_name() -> None:
    found = sent({}, data=JOB | {"job_name": "a\r\nX-Email: evil@example.com\r\n\r\n"})
    assert found["title"] == "Job failed: a X-Email: evil@example.com in acme/storefront"


@pytest.mark.parametrize("body", [b"", b"nonsense", b"[]", b"[" * 50_000, b'{"id": 7}', b'{"id": "<script>"}'])
def test_a_2xx_with_nonsense_is_accepted_without_an_id(body: bytes) -> None:
    with receiving(responds(200, body=body)) as receiver:
        assert opened(NTFY, {"url": receiver.url}).send(outgoing()) == SendResult.accepted()


@pytest.mark.parametrize(
    ("behaviour", "outcome"),
    [
        (responds(400), SendOutcome.REFUSED),
        (responds(413), SendOutcome.REFUSED),
        (responds(401), SendOutcome.TRY_LATER),
        (responds(403), SendOutcome.TRY_LATER),
        (responds(429), SendOutcome.TRY_LATER),
        (responds(507), SendOutcome.TRY_LATER),
    ],
)
def test_only_what_never_works_is_final(behaviour: Behaviour, outcome: SendOutcome) -> None:
    with receiving(behaviour) as receiver:
        assert opened(NTFY, {"url": receiver.url}).send(outgoing()).outcome is outcome
