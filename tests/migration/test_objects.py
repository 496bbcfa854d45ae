"""An object in S3 is read as live intake would have received it."""

import gzip
import json
from dataclasses import replace
from typing import Any

import pytest
from runledger.migration import objects
from runledger.migration.objects import Selection, Skipped, StoredWebhook, receipt_of
from runledger.model.errors import Rejection
from runledger.model.inputs import Receipt

from tests.support.webhooks import COMPLETED, INSTALLATION, JOB, QUEUED, payload, receipt

MODIFIED = "2025-01-15T10:20:00.000Z"
STORED = StoredWebhook(key="a key", size=1, modified_at=MODIFIED)
ANY = Selection(host="github.com", installations={})


def read(message: Any = None, *, stored: StoredWebhook = STORED, selection: Selection = ANY) -> Receipt:
    found = receipt_of(stored, json.dumps(message or payload(COMPLETED)).encode(), selection)
    assert isinstance(found, Receipt)
    return found


def test_with_metadata_it_is_the_same_receipt_as_the_live_one() -> None:
    live = receipt(COMPLETED, at=61, guid="a guid")
    stored = replace(STORED, delivery_id=live.delivery_id, received_at=live.received_at, received_by=live.received_by)
    assert read(stored=stored) == live


def test_without_metadata_the_modification_is_the_receipt_and_the_body_is_the_id() -> None:
    found, again, other = read(), read(stored=replace(STORED, key="a copy")), read(payload(QUEUED))
    assert found.received_at == MODIFIED
    assert found.delivery_id.startswith("imported-")
    assert found.token == again.token
    assert found.delivery_id != other.delivery_id


def test_an_object_that_was_copied_later_was_received_when_its_newest_time_was_reported() -> None:
    copied = replace(STORED, modified_at="2025-06-01T00:00:00.000Z")
    assert read(stored=copied).received_at == "2025-01-15T10:12:45.000Z"
    redelivered = replace(STORED, modified_at="2025-01-18T10:12:00.000Z")
    assert read(stored=redelivered).received_at == "2025-01-18T10:12:00.000Z"


@pytest.mark.parametrize(("name", "value"), [("installation_id", "7"), ("job_id", "7")])
def test_a_body_about_another_job_than_its_key_is_refused(name: str, value: str) -> None:
    """The check comes before installations are mapped and selected: permissions to write apply to keys."""
    own = replace(STORED, installation_id=str(INSTALLATION), job_id=str(JOB))
    mapped = replace(ANY, installations={INSTALLATION: 7})
    assert read(stored=own, selection=mapped).installation_id == 7
    changed: dict[str, Any] = {name: value}
    for selection in (ANY, mapped, replace(ANY, only=1)):
        with pytest.raises(Rejection, match="but the key names"):
            receipt_of(replace(own, **changed), json.dumps(payload(COMPLETED)).encode(), selection)


def test_gzip_is_unpacked() -> None:
    plain = json.dumps(payload(COMPLETED)).encode()
    assert receipt_of(STORED, gzip.compress(plain), ANY) == receipt_of(STORED, plain, ANY)


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"", "is not JSON"),
        (b"\xff\xfe", "is not JSON"),
        (b"[1]", "must be a JSON object"),
        (b'{"workflow_job": 1, "action": "queued"}', "workflow_job must be an object"),
        (b'{"workflow_job": {"id": "x", "run_id": 1}, "action": "queued"}', "workflow_job.id"),
        (b"[" * 100_000, "nested too deeply"),
        (b"\x1f\x8b not gzip", "corrupt gzip"),
        (gzip.compress(b'{"a": 1}')[:-9], "incomplete gzip"),
        (gzip.compress(bytes(objects.LARGEST_BODY + 1)), "the limit is 1,000,000"),
        (bytes(objects.LARGEST_BODY + 1), "the limit is 1,000,000"),
    ],
    ids=["empty", "no text", "no object", "no job", "no id", "deep", "damaged", "incomplete", "large gzip", "large"],
)
def test_what_is_no_webhook_is_refused_with_a_reason(body: bytes, problem: str) -> None:
    with pytest.raises(Rejection, match=problem):
        receipt_of(STORED, body, ANY)


@pytest.mark.parametrize(
    ("message", "selection", "skipped"),
    [
        ({"action": "created", "comment": {}}, ANY, Skipped.OTHER_EVENTS),
        ({"jit_config": "a secret"}, ANY, Skipped.OTHER_EVENTS),
        (payload(QUEUED) | {"action": "edited"}, ANY, Skipped.OTHER_EVENTS),
        (payload(QUEUED), replace(ANY, only=1), Skipped.OTHER_INSTALLATIONS),
        (payload(QUEUED), replace(ANY, host="github.example.com"), Skipped.OTHER_HOSTS),
    ],
)
def test_other_objects_are_skipped(message: dict[str, Any], selection: Selection, skipped: Skipped) -> None:
    assert receipt_of(STORED, json.dumps(message).encode(), selection) is skipped


def test_installations_are_mapped_before_they_are_selected() -> None:
    mapped = replace(ANY, installations={INSTALLATION: 7}, only=7)
    assert read(selection=mapped).installation_id == 7
