"""GitHub's own example payloads, from @octokit/webhooks-examples."""

from __future__ import annotations

import functools
import json
from typing import Any

from local import ROOT

EXAMPLES = ROOT / "node_modules" / "@octokit" / "webhooks-examples"

Payload = dict[str, Any]


def payloads(event_name: str) -> list[Payload]:
    """Return new objects of all examples of an event, those of github.com before those of each GHES version."""
    return [json.loads(text) for text in _texts().get(event_name, ())]


def example(event_name: str, action: str) -> Payload:
    """Return a new object of the first example of an event with this action."""
    payload: Payload = json.loads(_text(event_name, action))
    return payload


@functools.cache
def _text(event_name: str, action: str) -> str:
    return next(json.dumps(each) for each in payloads(event_name) if each.get("action") == action)


@functools.cache
def _texts() -> dict[str, list[str]]:
    """The examples by event. They are texts, because parsing one takes a tenth of the time of a deep copy."""
    examples: dict[str, list[str]] = {}
    for file in sorted(EXAMPLES.glob("*/index.json")):
        for event in json.loads(file.read_text()):
            examples.setdefault(event["name"], []).extend(map(json.dumps, event["examples"]))
    return examples
