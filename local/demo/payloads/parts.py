"""Common parts of all payloads: the example that they are based on, and the repository."""

from __future__ import annotations

import json
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING

from local.github import examples

if TYPE_CHECKING:
    from local.demo.payloads.entities import Payload, Repository


def example(event: str, action: str) -> Payload:
    """Return a copy of the most complete example of an action."""
    found: Payload = json.loads(_most_complete_example(event, action))
    return found


def section(event: str, name: str) -> Payload:
    """Return a copy of the most complete example of one section of an event's payloads."""
    found: Payload = json.loads(_most_complete_section(event, name))
    return found


def renamed(part: Payload, names: dict[str, str]) -> Payload:
    """Replace names wherever they occur, because most of them are parts of URLs."""
    text = json.dumps(part)
    for old, new in names.items():
        text = text.replace(old, new)
    changed: Payload = json.loads(text)
    return changed


def moved(part: Payload, place: Repository) -> Payload:
    """Change the `repository` of a section."""
    old = part["repository"]["full_name"]
    owner, _, name = old.partition("/")
    there = renamed(part, {old: place.full_name, owner: place.owner, name: place.name})
    there["repository"] |= {"id": place.id, "private": place.private}
    return there


def placed(payload: Payload, place: Repository) -> Payload:
    """Set the repository and the installation of a payload."""
    example_repository = section("workflow_job", "repository")
    organization = section("workflow_job", "organization")
    payload["repository"] = moved({"repository": example_repository}, place)["repository"] | {
        "visibility": "private" if place.private else "public",
        "default_branch": "main",
        "custom_properties": {"team": place.owner},
    }
    payload["organization"] = renamed(organization, {organization["login"]: place.owner}) | {"id": place.owner_id}
    payload.pop("installation", None)
    if place.installation_id:
        payload["installation"] = {"id": place.installation_id, "node_id": f"I_{place.installation_id}"}
    return payload


def timestamp(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


@cache
def _most_complete_example(event: str, action: str) -> str:
    return max((json.dumps(each) for each in examples.payloads(event) if each.get("action") == action), key=len)


@cache
def _most_complete_section(event: str, name: str) -> str:
    found = [each[name] for each in examples.payloads(event) if each.get(name)]
    return json.dumps(max(found, key=len))
