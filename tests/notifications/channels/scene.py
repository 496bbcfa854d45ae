"""An event, and channels that send it to receivers on loopback."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from runledger.feeds.envelope import envelope
from runledger.model import times
from runledger.notifications.channels.configs import ChannelSettings
from runledger.notifications.channels.connection import Http
from runledger.notifications.channels.interface import Channel, ChannelKind, Outgoing
from runledger.notifications.channels.opening import Channels
from runledger.platform.encoding import to_json

from tests.support.channels import channel_settings

INSTALLATION = 41000001
MESSAGE_ID = "0a1b2c3d4e5f60718293a4b5c6d7e8f9"
SECRET = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
# Enough on a busy machine; only tests of the limits are impatient.
PATIENT: Mapping[str, Any] = {"seconds": 10.0, "rest_seconds": 0.1}
IMPATIENT: Mapping[str, Any] = {"seconds": 0.2, "rest_seconds": 0.1}
LOCAL = channel_settings(allow_loopback=True)
JOB = {
    "installation_id": INSTALLATION,
    "job_id": 5001,
    "run_id": 4001,
    "run_attempt": 1,
    "repo_full_name": "acme/storefront",
    "workflow_name": "CI",
    "job_name": "build",
    "head_branch": "main",
    "head_sha": "ec26c3e57ca3a959ca5aad62de7213c562f8c821",
    "job_html_url": "https://github.com/acme/storefront/actions/runs/4001/job/5001",
    "labels": ["self-hosted", "linux", "x64"],
    "status": "completed",
    "conclusion": "failure",
    "created_at": "2026-11-17T10:00:00.000Z",
}


def now() -> str:
    """Receivers reject signatures that are older than minutes."""
    return times.from_epoch_ms(round(time.time() * 1000))


def event(kind: str = "job.failed", data: Any = None, **replaced: Any) -> dict[str, Any]:
    item = {
        "installation_id": INSTALLATION,
        "event_id": "6d9f0a3c6f0f5a4be1d2c8a7719b0c55",
        "event_type": kind,
        "subject": "jobs/5001",
        "occurred_at": now(),
        "payload": to_json(JOB if data is None else data),
        "status": "received",
        "retry_count": 0,
        "metadata": {"source": "workflow_jobs", "correlation_id": "c4ca4238"},
    }
    return envelope(item, written_at=now()) | replaced


def outgoing(kind: str = "job.failed", data: Any = None, **replaced: Any) -> Outgoing:
    found = {"message_id": MESSAGE_ID, "envelope": event(kind, data), "sent_at": now()}
    return Outgoing(**(found | replaced))


def opened(
    kind: ChannelKind,
    config: Mapping[str, Any],
    secrets: Sequence[str] = (),
    *,
    http: Http | None = None,
    settings: ChannelSettings = LOCAL,
) -> Channel:
    return Channels(settings=settings, http=http or Http(allow_loopback=True, **PATIENT)).open(kind, config, secrets)


def resolving(**names: Sequence[str]) -> Callable[[str, int], Sequence[str]]:
    """Names have `_` instead of a dot. Other names aren't found."""
    found = {name.replace("_", "."): addresses for name, addresses in names.items()}

    def resolve(host: str, _port: int) -> Sequence[str]:
        if host not in found:
            raise OSError("not found")
        return found[host]

    return resolve
