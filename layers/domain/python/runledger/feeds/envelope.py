"""Feed events as CloudEvents 1.0. Pure."""

from base64 import b64encode
from collections.abc import Mapping
from typing import Any

from runledger.feeds import json_data
from runledger.feeds.events import FeedType

SPEC_VERSION = "1.0"
CONTENT_TYPE = "application/json"
# The files docs/feed/{name}.v1.schema.json. For most types, the name is the type's first word.
SCHEMAS = {each: each.partition(".")[0] for each in FeedType} | {
    FeedType.JOB_RECONCILED: "reconciliation",
    FeedType.APPROVAL_REQUESTED: "job",
    FeedType.APPROVAL_GIVEN: "job",
    FeedType.APPROVAL_REFUSED: "job",
    FeedType.RUNNER_REQUESTED: "job",
}


def schema_of(event_type: str) -> str | None:
    """None for custom event types."""
    return f"urn:runledger:feed:{SCHEMAS[FeedType(event_type)]}:v1" if event_type in set(FeedType) else None


def envelope(item: Mapping[str, Any], *, written_at: str, payload: str | None = None) -> dict[str, Any]:
    """`payload` is data that isn't in the table, because it is too large. Without it, the event has the data's address.

    CloudEvents requires extension names in lower-case letters.
    """
    source = f"/v1/installations/{item['installation_id']}"
    text, about = item.get("payload") or payload, item.get("metadata", {})
    data = _data(text) if text else {"dataref": f"{source}/feed/{item['event_id']}"}
    found = {
        "specversion": SPEC_VERSION,
        "id": item["event_id"],
        "source": source,
        "type": item["event_type"],
        "subject": item["subject"],
        "time": item["occurred_at"],
        "datacontenttype": CONTENT_TYPE,
        "dataschema": schema_of(item["event_type"]),
        "writtenat": written_at,
        "deliverystatus": item["status"],
        "retrycount": item["retry_count"],
        "origin": about.get("source"),
        "correlationid": about.get("correlation_id"),
    }
    return {name: value for name, value in found.items() if value is not None} | data


def _data(text: str) -> dict[str, Any]:
    """Data that can't be returned as JSON is returned as Base64, so that one event never fails a whole page."""
    is_fit, data = json_data.parse(text)
    return {"data": data} if is_fit else {"data_base64": b64encode(text.encode()).decode()}
