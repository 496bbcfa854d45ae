"""`installation`: the payloads when the App is installed or removed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from local.demo.payloads.entities import Delivery, Installation, delivery
from local.demo.payloads.parts import example, renamed, timestamp

if TYPE_CHECKING:
    from datetime import datetime

Action = Literal["created", "deleted"]


def installation_delivery(installation: Installation, action: Action, at: datetime) -> Delivery:
    payload = example("installation", action)
    owned = installation.repositories
    part = payload["installation"]
    names = {str(part["id"]): str(installation.id), part["account"]["login"]: owned[0].owner}
    payload["installation"] = renamed(part, names) | {
        "app_slug": "runledger",
        "target_id": owned[0].owner_id,
        "target_type": "Organization",
        "created_at": timestamp(installation.created_at),
        "updated_at": timestamp(at),
        "suspended_at": None,
        "suspended_by": None,
    }
    payload["installation"]["account"] |= {"id": owned[0].owner_id, "type": "Organization"}
    payload["repositories"] = [
        {
            "id": each.id,
            "node_id": f"R_{each.id}",
            "name": each.name,
            "full_name": each.full_name,
            "private": each.private,
        }
        for each in owned
    ]
    return delivery("installation", installation, at, payload)
