"""GitHub's own example payloads, from @octokit/webhooks-examples."""

from __future__ import annotations

import copy
import functools
import json
from typing import Any

from local import ROOT

EXAMPLES = ROOT / "node_modules" / "@octokit" / "webhooks-examples"

Payload = dict[str, Any]


def payloads(event_name: str) -> list[Payload]:
    """Return copies of all examples of an event, those of github.com before those of each GHES version."""
    return copy.deepcopy(_by_event().get(event_name, []))


@functools.cache
def _by_event() -> dict[str, list[Payload]]:
    examples: dict[str, list[Payload]] = {}
    for file in sorted(EXAMPLES.glob("*/index.json")):
        for event in json.loads(file.read_text()):
            examples.setdefault(event["name"], []).extend(event["examples"])
    return examples
