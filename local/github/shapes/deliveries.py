"""Rows of the App's delivery log."""

import json
from typing import Any

from local.github.records import Delivery


def delivery_row(of: Delivery) -> dict[str, Any]:
    payload = json.loads(of.body)
    return {
        "id": of.id,
        "guid": of.guid,
        "delivered_at": of.delivered_at,
        "redelivery": of.redelivery,
        "duration": of.duration,
        "status": of.status,
        "status_code": of.status_code,
        "event": of.event,
        "action": payload.get("action"),
        "installation_id": (payload.get("installation") or {}).get("id"),
        "repository_id": (payload.get("repository") or {}).get("id"),
        "throttled_at": None,
    }


def delivery(of: Delivery, url: str) -> dict[str, Any]:
    return delivery_row(of) | {
        "url": url,
        "request": {"headers": of.request_headers, "payload": json.loads(of.body)},
        "response": {"headers": of.response_headers, "payload": of.response_body},
    }
