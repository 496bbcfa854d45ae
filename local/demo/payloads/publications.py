"""`release`: the payload when a version is published."""

from __future__ import annotations

from typing import TYPE_CHECKING

from local.demo.payloads.parts import example, placed, renamed, timestamp

if TYPE_CHECKING:
    from datetime import datetime

    from local.demo.payloads.entities import Payload, Repository


def release_published(repository: Repository, tag: str, at: datetime) -> Payload:
    payload = example("release", "published")
    part, old = payload["release"], payload["repository"]["full_name"]
    payload["release"] = renamed(part, {old: repository.full_name, part["tag_name"]: tag}) | {
        "target_commitish": "main",
        "immutable": False,
        "updated_at": timestamp(at),
        "created_at": timestamp(at),
        "published_at": timestamp(at),
    }
    payload.pop("enterprise", None)
    return placed(payload, repository)
