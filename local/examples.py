"""GitHub's own example payloads, from @octokit/webhooks-examples."""

from __future__ import annotations

import copy
import functools
import json
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).parent.parent / "node_modules" / "@octokit" / "webhooks-examples"

Payload = dict[str, Any]


def payloads(event_name: str) -> list[Payload]:
    """Return every example of an event, of github.com first and then of each GHES version; yours to change."""
    return copy.deepcopy(_by_event().get(event_name, []))


@functools.cache
def _by_event() -> dict[str, list[Payload]]:
    found: dict[str, list[Payload]] = {}
    for file in sorted(EXAMPLES.glob("*/index.json")):
        for event in json.loads(file.read_text()):
            found.setdefault(event["name"], []).extend(event["examples"])
    return found
