"""Slack's incoming webhooks, and other products that accept the same messages."""

from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

from runledger.model.dataclass import dataclass
from runledger.notifications.channels.connection import Http
from runledger.notifications.channels.interface import Outgoing, SendResult
from runledger.notifications.channels.posting import post
from runledger.notifications.channels.urls import Target
from runledger.notifications.texts import Text, text_of
from runledger.platform.encoding import to_json

LONGEST_SECTION = 3000
# The webhook was removed or is prohibited, its Slack channel is gone, or Slack rejects the message. A retry would have
# the same result.
REFUSALS = frozenset({HTTPStatus.BAD_REQUEST, HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND, HTTPStatus.GONE})
ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Slack:
    http: Http
    target: Target

    def send(self, outgoing: Outgoing) -> SendResult:
        body = to_json(message(text_of(outgoing.envelope))).encode()
        return post(self.http, self.target, body, {}, sent_at=outgoing.sent_at, refusals=REFUSALS)


def message(text: Text) -> dict[str, Any]:
    """Push notifications and screen readers use the field `text`.

    Without `verbatim`, Slack would turn `@channel` in a job's name into a mention of everyone.
    """
    title = f"<{_escaped(text.url).replace('|', '%7C')}|{_escaped(text.title)}>" if text.url else _escaped(text.title)
    head = f":{text.emoji}: *{title}*" if text.emoji else f"*{title}*"
    sections = [_section(part) for part in _parts([head, *map(_escaped, text.lines)])]
    return {"text": _escaped(text.title), "blocks": sections, "unfurl_links": False, "unfurl_media": False}


def _section(markdown: str) -> dict[str, Any]:
    return {"type": "section", "text": {"type": "mrkdwn", "text": markdown, "verbatim": True}}


def _parts(lines: list[str]) -> Iterator[str]:
    """As few sections as possible. A line is never longer than a section: see `texts`."""
    part = lines[0]
    for line in lines[1:]:
        if len(part) + 1 + len(line) > LONGEST_SECTION:
            yield part
            part = line
        else:
            part = f"{part}\n{line}"
    yield part


def _escaped(text: str) -> str:
    """Without this, a name such as `<!channel>` would notify everyone."""
    return text.translate(ESCAPES)
