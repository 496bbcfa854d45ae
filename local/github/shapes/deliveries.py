"""Rows of the App's delivery log."""

import json
from typing import Any

from local.github.records import Delivery


def delivery_row(record: Delivery) -> dict[str, Any]:
    payload = json.loads(record.body)
    return {
        "id": record.id,
        "guid": record.guid,
        "delivered_at": record.delivered_at,
        "redelivery": record.redelivery,
        "duration": record.duration,
        "status": record.status,
        "status_code": record.status_code,
        "event": record.event,
        "action": payload.get("action"),
        "installation_id": (payload.get("installation") or {}).get("id"),
        "repository_id": (payload.get("repository") or {}).get("id"),
        "throttled_at": None,
    }


def delivery(record: Delivery, url: str) -> dict[str, Any]:
    return delivery_row(record) | {
        "url": url,
        "request": {"headers": record.request_headers, "payload": json.loads(record.body)},
        "response": {"headers": record.response_headers, "payload": record.response_body},
    }
