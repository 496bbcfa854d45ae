"""How the simulated GitHub delivers webhooks, and how an App finds and repeats what was not taken."""

import hashlib
import hmac
import json
import uuid

import pytest

from local.github import SimulatedGitHub
from tests.local.github_client import Client, ManualClock
from tests.local.webhook_receiver import WebhookReceiver

PAYLOAD = {"action": "queued", "installation": {"id": 7}, "repository": {"id": 9}, "workflow_job": {"name": "bäuen"}}
LOG = "/app/hook/deliveries"


def test_webhook_is_signed_over_its_raw_bytes_with_githubs_headers(anyone: Client, receiver: WebhookReceiver) -> None:
    row = anyone.post("/_simulation/webhooks", event="workflow_job", payload=PAYLOAD).document
    [webhook] = receiver.received
    signature = hmac.new(b"s3cret", webhook.body, hashlib.sha256).hexdigest()
    assert webhook.headers["x-hub-signature-256"] == f"sha256={signature}"
    assert webhook.headers["x-github-event"] == "workflow_job"
    assert webhook.headers["content-type"] == "application/json"
    assert webhook.headers["user-agent"].startswith("GitHub-Hookshot/")
    assert uuid.UUID(webhook.headers["x-github-delivery"]) == uuid.UUID(row["guid"])
    assert json.loads(webhook.body) == PAYLOAD
    assert (row["status_code"], row["action"], row["installation_id"]) == (202, "queued", 7)


def test_webhook_without_a_secret_is_not_signed(anyone: Client, receiver: WebhookReceiver) -> None:
    anyone.put("/_simulation/settings", webhook_secret="")
    anyone.post("/_simulation/webhooks", event="ping", payload={})
    assert "x-hub-signature-256" not in receiver.received[0].headers


def test_webhook_cannot_be_sent_to_nowhere(anyone: Client) -> None:
    reply = anyone.post("/_simulation/webhooks", event="ping", payload={})
    assert (reply.status, "webhook_url" in reply.document["message"]) == (422, True)


def test_failed_row_stays_in_the_log_after_its_redelivery_succeeded(
    anyone: Client, app: Client, receiver: WebhookReceiver
) -> None:
    receiver.responses = [500]
    failed = anyone.post("/_simulation/webhooks", event="workflow_job", payload=PAYLOAD).document
    assert app.post(f"{LOG}/{failed['id']}/attempts").status == 202
    rows = anyone.get("/_simulation/deliveries").document
    assert app.get(LOG).document == rows
    assert [(row["guid"], row["redelivery"], row["status_code"]) for row in rows] == [
        (failed["guid"], True, 202),
        (failed["guid"], False, 500),
    ]
    first, second = receiver.received
    assert (first.body, first.headers["x-github-delivery"]) == (second.body, second.headers["x-github-delivery"])


def test_delivery_shows_the_request_and_the_response(anyone: Client, app: Client, receiver: WebhookReceiver) -> None:
    row = anyone.post("/_simulation/webhooks", event="workflow_job", payload=PAYLOAD).document
    delivery = app.get(f"{LOG}/{row['id']}").document
    assert delivery["url"] == receiver.url
    assert delivery["request"]["payload"] == PAYLOAD
    assert delivery["request"]["headers"]["X-GitHub-Delivery"] == row["guid"]
    assert delivery["response"]["payload"] == ""


@pytest.mark.parametrize(("status", "as_failure"), [(504, 1), (0, 0)])
def test_lost_delivery_is_logged_as_failed_and_never_arrives(
    anyone: Client, app: Client, receiver: WebhookReceiver, status: int, as_failure: int
) -> None:
    anyone.post("/_simulation/faults", kind="lost_delivery", status=status, path="workflow_job")
    for event in ("workflow_run", "workflow_job", "workflow_job"):
        anyone.post("/_simulation/webhooks", event=event, payload=PAYLOAD)
    assert [row["status_code"] for row in app.get(LOG).document] == [202, status, 202]
    assert len(receiver.received) == 2
    assert len(app.get(f"{LOG}?status=failure").document) == as_failure
    assert len(app.get(f"{LOG}?status=success").document) == 2


def test_one_delivery_is_lost_by_its_guid_and_arrives_when_it_is_redelivered(
    anyone: Client, app: Client, receiver: WebhookReceiver
) -> None:
    guids = [str(uuid.UUID(int=number)) for number in range(2)]
    anyone.post("/_simulation/faults", kind="lost_delivery", path=guids[1])
    rows = [anyone.post("/_simulation/webhooks", event="ping", payload={}, guid=guid).document for guid in guids]
    assert [row["status_code"] for row in rows] == [202, 504]
    app.post(f"{LOG}/{rows[1]['id']}/attempts")
    assert anyone.get("/_simulation/deliveries").document[0]["status_code"] == 202
    assert [webhook.headers["x-github-delivery"] for webhook in receiver.received] == guids


def test_receiver_that_takes_too_long_is_given_up(anyone: Client, receiver: WebhookReceiver) -> None:
    assert anyone.get("/_simulation/settings").document["give_up_seconds"] == 10
    anyone.put("/_simulation/settings", give_up_seconds=0.1)
    receiver.silent = True
    row = anyone.post("/_simulation/webhooks", event="ping", payload={}).document
    assert (row["status_code"], row["status"]) == (504, "timed out")


def test_receiver_that_is_gone_is_a_failed_delivery(github: SimulatedGitHub, anyone: Client) -> None:
    with WebhookReceiver() as gone:
        github.state.configure(webhook_url=gone.url)
    row = anyone.post("/_simulation/webhooks", event="ping", payload={}).document
    assert (row["status_code"], row["status"]) == (502, "failed to connect to host")


def test_log_is_walked_by_cursor_and_not_disturbed_by_new_rows(
    anyone: Client, app: Client, receiver: WebhookReceiver
) -> None:
    assert receiver.received == []
    sent = [anyone.post("/_simulation/webhooks", event="ping", payload={}).document["id"] for _ in range(5)]
    seen, page = [], f"{LOG}?per_page=2"
    while page:
        reply = app.get(page)
        seen.append([row["id"] for row in reply.document])
        anyone.post("/_simulation/webhooks", event="ping", payload={})
        page = reply.next_page or ""
    newest_first = sent[::-1]
    assert seen == [newest_first[:2], newest_first[2:4], newest_first[4:]]
    assert app.get(f"{LOG}?cursor=nonsense").status == 400


def test_delivery_can_be_repeated_for_three_days(
    anyone: Client, app: Client, receiver: WebhookReceiver, clock: ManualClock
) -> None:
    row = anyone.post("/_simulation/webhooks", event="ping", payload={}).document
    assert len(receiver.received) == 1
    clock.advance(days=3)
    app = anyone.as_app()
    assert len(app.get(LOG).document) == 1
    clock.advance(seconds=1)
    assert app.get(LOG).document == []
    assert app.post(f"{LOG}/{row['id']}/attempts").status == 404
