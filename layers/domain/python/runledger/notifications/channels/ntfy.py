"""ntfy: publishes a message to a topic as JSON, because headers can't contain every character."""

import json
import re
from collections.abc import Mapping
from dataclasses import field, replace
from http import HTTPStatus
from typing import Any

from runledger.model.dataclass import dataclass
from runledger.notifications.channels.connection import Http
from runledger.notifications.channels.interface import Outgoing, SendResult
from runledger.notifications.channels.posting import post
from runledger.notifications.channels.urls import Target
from runledger.notifications.texts import Text, Urgency, text_of
from runledger.platform.encoding import to_json

LONGEST_MESSAGE_BYTES = 3000  # ntfy truncates a message over 4096 bytes, or attaches it as a file
PRIORITIES = {Urgency.LOW: 2, Urgency.NORMAL: 3, Urgency.HIGH: 4}
REFUSALS = frozenset(
    {HTTPStatus.BAD_REQUEST, HTTPStatus.NOT_FOUND, HTTPStatus.GONE, HTTPStatus.REQUEST_ENTITY_TOO_LARGE}
)
ID = re.compile(r"[-_A-Za-z0-9]{1,64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ntfy:
    """`target` is the URL of the topic. `config` may set the priority and the tags of all messages."""

    http: Http
    target: Target
    token: str | None = None
    config: Mapping[str, Any] = field(default_factory=dict)

    def send(self, outgoing: Outgoing) -> SendResult:
        topic = self.target.path.removeprefix("/")
        body = to_json(message(text_of(outgoing.envelope), topic=topic, config=self.config)).encode()
        server = replace(self.target, path="/")
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        return post(self.http, server, body, headers, sent_at=outgoing.sent_at, refusals=REFUSALS, id_in=id_in)


def message(text: Text, *, topic: str, config: Mapping[str, Any]) -> dict[str, Any]:
    own_tags = config.get("tags", text.tags)
    found = {
        "topic": topic,
        "title": text.title,
        "message": _shortened("\n".join(text.lines) or text.title),
        "priority": config.get("priority") or text.priority or PRIORITIES[text.urgency],
        "tags": [each for each in (text.emoji, *own_tags) if each],
        "click": text.url,
    }
    return {name: value for name, value in found.items() if value}


def id_in(body: bytes) -> str | None:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return None
    own = found.get("id") if isinstance(found, dict) else None
    return own if isinstance(own, str) and ID.fullmatch(own) else None


def _shortened(text: str) -> str:
    """Shortened to a number of bytes, without splitting a character."""
    encoded = text.encode()
    if len(encoded) <= LONGEST_MESSAGE_BYTES:
        return text
    return encoded[:LONGEST_MESSAGE_BYTES].decode(errors="ignore") + "…"
