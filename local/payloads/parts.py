"""What payloads of every kind have in common: an example to start from, and the place where it happens."""

from __future__ import annotations

import json
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING

from local import examples

if TYPE_CHECKING:
    from local.payloads.subjects import Payload, Repository


def example(event: str, action: str) -> Payload:
    """Return the fullest example of an action; yours to change."""
    found: Payload = json.loads(_fullest_example(event, action))
    return found


def section(event: str, name: str) -> Payload:
    """Return the fullest example of one section of an event's payloads; yours to change."""
    found: Payload = json.loads(_fullest_section(event, name))
    return found


def renamed(part: Payload, names: dict[str, str]) -> Payload:
    """Change names wherever they occur, since most of them are inside addresses."""
    text = json.dumps(part)
    for old, new in names.items():
        text = text.replace(old, new)
    changed: Payload = json.loads(text)
    return changed


def moved(part: Payload, place: Repository) -> Payload:
    """Move a section that names its `repository` to another one."""
    old = part["repository"]["full_name"]
    owner, _, name = old.partition("/")
    there = renamed(part, {old: place.full_name, owner: place.owner, name: place.name})
    there["repository"] |= {"id": place.id, "private": place.private}
    return there


def placed(payload: Payload, place: Repository) -> Payload:
    """Let a payload come from a repository and its installation."""
    example_repository = section("workflow_job", "repository")
    organization = section("workflow_job", "organization")
    payload["repository"] = moved({"repository": example_repository}, place)["repository"] | {
        "visibility": "private" if place.private else "public",
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
def _fullest_example(event: str, action: str) -> str:
    return max((json.dumps(each) for each in examples.payloads(event) if each.get("action") == action), key=len)


@cache
def _fullest_section(event: str, name: str) -> str:
    found = [each[name] for each in examples.payloads(event) if each.get(name)]
    return json.dumps(max(found, key=len))
