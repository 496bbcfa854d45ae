"""Messages to Slack: escaped, within its limits, and without mentions."""

import json
from typing import Any

import pytest
from runledger.notifications.channels.interface import ChannelKind, SendOutcome, SendResult
from runledger.notifications.channels.slack import LONGEST_SECTION, message
from runledger.notifications.texts import text_of

from tests.notifications.channels.receivers import receiving, responds
from tests.notifications.channels.scene import JOB, event, opened, outgoing


def sections(found: dict[str, Any]) -> list[str]:
    return [block["text"]["text"] for block in found["blocks"]]


def test_a_failed_job_is_one_message_with_a_link() -> None:
    with receiving(responds(200, body=b"ok")) as receiver:
        result = opened(ChannelKind.SLACK, {}, [receiver.url]).send(outgoing())
    assert result == SendResult.accepted()
    (request,) = receiver.requests
    assert request.headers["content-type"] == "application/json"
    found = json.loads(request.body)
    assert found["text"] == "Job failed: build in acme/storefront"
    (section,) = sections(found)
    assert section.splitlines() == [
        ":x: *<https://github.com/acme/storefront/actions/runs/4001/job/5001|Job failed: build in acme/storefront>*",
        "CI, branch main",
        "conclusion failure",
    ]


@pytest.mark.parametrize("name", ["<!channel>", "<@U123>", "<https://evil.example|click>", "&lt;!here&gt;", "a > b"])
def test_a_name_contains_no_markup(name: str) -> None:
    found = message(text_of(event(data=JOB | {"job_name": name, "head_branch": name})))
    text = "\n".join([found["text"], *sections(found)])
    own_link = "<https://github.com/acme/storefront/actions/runs/4001/job/5001|"
    assert text.count(own_link) == 1
    left = text.replace(own_link, "", 1).replace(">*", "", 1)
    assert not {"<", ">"} & set(left)


def test_plain_mentions_and_addresses_are_not_turned_into_links() -> None:
    found = message(text_of(event(data=JOB | {"job_name": "@channel @here #general https://evil.example"})))
    assert {block["text"]["verbatim"] for block in found["blocks"]} == {True}
    assert (found["unfurl_links"], found["unfurl_media"]) == (False, False)


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "https://x.example/>|evil", "https://x.example/a b", "ftp://x.example", 7, None]
)
def test_an_address_that_is_no_link_cannot_leave_it(url: object) -> None:
    found = message(text_of(event(data=JOB | {"job_html_url": url})))
    (section,) = sections(found)
    first = section.splitlines()[0]
    assert first.count("|") <= 1
    assert first.count(">") <= 1
    assert "javascript" not in first


def test_the_longest_texts_fit_into_sections() -> None:
    lines = "\n".join("&" * 2000 for _ in range(100))
    found = message(text_of(event("runledger.message", {"title": "<" * 1000, "text": lines})))
    assert 1 <= len(found["blocks"]) <= 50
    assert all(1 <= len(section) <= LONGEST_SECTION for section in sections(found))
    assert len(found["text"]) <= 4000


@pytest.mark.parametrize("status", [400, 403, 404, 410])
def test_a_webhook_that_was_removed_is_final(status: int) -> None:
    with receiving(responds(status, body=b"no_service")) as receiver:
        result = opened(ChannelKind.SLACK, {}, [receiver.url]).send(outgoing())
    assert result.outcome is SendOutcome.REFUSED


def test_too_many_messages_are_sent_after_the_pause_that_slack_requests() -> None:
    with receiving(responds(429, Retry_After="30")) as receiver:
        result = opened(ChannelKind.SLACK, {}, [receiver.url]).send(outgoing())
    assert result == SendResult.try_later("HTTP 429 Too Many Requests", retry_after_seconds=30)


@pytest.mark.parametrize("secrets", [[], ["https://evil.example/hunter2"], ["hunter2"]])
def test_nothing_is_sent_elsewhere_and_the_error_has_no_secret(secrets: list[str]) -> None:
    result = opened(ChannelKind.SLACK, {}, secrets).send(outgoing())
    assert result.outcome is SendOutcome.REFUSED
    assert "hunter2" not in str(result.error)
