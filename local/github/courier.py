"""Sends webhooks as GitHub does: signed, once, with a timeout of 10 seconds and a row in the log for every attempt."""

import hashlib
import hmac
import json
import time
import uuid
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from datetime import timedelta
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any
from urllib.parse import urlsplit

from local.github.credentials import APP_ID
from local.github.faults import FaultKind
from local.github.messages import Refusal
from local.github.records import Delivery
from local.github.state import Settings, State, timestamp

RETENTION = timedelta(days=3)


@dataclass(frozen=True, slots=True)
class _Outcome:
    status_code: int
    status: str
    headers: dict[str, str] | None = None
    body: str | None = None


class Courier:
    """Sends without holding the state's lock: the receiver may call GitHub."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._threads = ThreadPoolExecutor(max_workers=8, thread_name_prefix="courier")
        self._pending: list[Future[Any]] = []

    def send(self, event: str, payload: Mapping[str, Any], guid: str | None = None) -> Delivery:
        body = json.dumps(payload, separators=(",", ":"), ensure_ascii=False).encode()
        return self._deliver(event, body, guid or str(uuid.uuid4()), redelivery=False)

    def redeliver(self, delivery: Delivery) -> None:
        """GitHub accepts the request immediately and sends later; `settle` waits for it."""
        self._pending.append(
            self._threads.submit(self._deliver, delivery.event, delivery.body, delivery.guid, redelivery=True)
        )

    def send_later(self, event: str, *payloads: Mapping[str, Any]) -> None:
        """Send the webhooks that follow a call. GitHub sends them after its response, one after the other."""
        self._pending.append(self._threads.submit(self._send_all, event, payloads))

    def settle(self) -> None:
        wait(self._pending)

    def log(self) -> list[Delivery]:
        """Newest first, within GitHub's retention."""
        with self._state.lock:
            oldest = timestamp(self._state.now() - RETENTION)
            return [delivery for delivery in self._state.deliveries[::-1] if delivery.delivered_at >= oldest]

    def close(self) -> None:
        self._threads.shutdown(cancel_futures=True)

    def _send_all(self, event: str, payloads: Sequence[Mapping[str, Any]]) -> None:
        for payload in payloads:
            self.send(event, payload)

    def _deliver(self, event: str, body: bytes, guid: str, *, redelivery: bool) -> Delivery:
        with self._state.lock:
            settings = self._state.settings
            faults, kinds = self._state.faults, (FaultKind.LOST_DELIVERY,)
            lost = faults.use(kinds, "POST", event) or faults.use(kinds, "POST", guid)
        if settings.webhook_url is None:
            raise Refusal(422, "No webhook_url is configured: set it in the settings first")
        headers = _headers(settings, event, body, guid)
        started = time.monotonic()
        if lost:
            outcome = _Outcome(lost.status or 0, "timed out")
        else:
            outcome = _post(settings.webhook_url, headers, body, settings.give_up_seconds)
        with self._state.lock:
            delivery = Delivery(
                id=self._state.new_id(),
                guid=guid,
                event=event,
                body=body,
                redelivery=redelivery,
                delivered_at=timestamp(self._state.now()),
                duration=round(time.monotonic() - started, 2),
                status=outcome.status,
                status_code=outcome.status_code,
                request_headers=headers,
                response_headers=outcome.headers,
                response_body=outcome.body,
            )
            self._state.deliveries.append(delivery)
        return delivery


def _headers(settings: Settings, event: str, body: bytes, guid: str) -> dict[str, str]:
    headers = {
        "Accept": "*/*",
        "Content-Type": "application/json",
        "User-Agent": "GitHub-Hookshot/simulated",
        "X-GitHub-Delivery": guid,
        "X-GitHub-Event": event,
        "X-GitHub-Hook-ID": "1",
        "X-GitHub-Hook-Installation-Target-ID": str(APP_ID),
        "X-GitHub-Hook-Installation-Target-Type": "integration",
    }
    if settings.webhook_secret:
        signature = hmac.new(settings.webhook_secret.encode(), body, hashlib.sha256).hexdigest()
        headers["X-Hub-Signature-256"] = f"sha256={signature}"
    return headers


def _post(url: str, headers: dict[str, str], body: bytes, give_up_seconds: float) -> _Outcome:
    """Uses http.client because urllib would follow redirects and use proxies; GitHub does neither."""
    parts = urlsplit(url)
    connection_type = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    connection = connection_type(parts.netloc, timeout=give_up_seconds)
    try:
        connection.request("POST", (parts.path or "/") + (f"?{parts.query}" if parts.query else ""), body, headers)
        response = connection.getresponse()
        text = response.read().decode(errors="replace")
        return _Outcome(response.status, response.reason or "OK", dict(response.getheaders()), text)
    except TimeoutError:
        return _Outcome(504, "timed out")
    except (OSError, HTTPException):
        return _Outcome(502, "failed to connect to host")
    finally:
        connection.close()
