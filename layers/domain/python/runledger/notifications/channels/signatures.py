"""Signatures of outgoing messages, for Standard Webhooks and in GitHub's format. Pure."""

import hmac
from base64 import b64encode
from collections.abc import Sequence
from datetime import datetime

from runledger.notifications.channels.configs import secret_bytes

VERSION = "v1"


def standard_headers(message_id: str, body: bytes, *, sent_at: str, secrets: Sequence[str]) -> dict[str, str]:
    """Signs with each secret, so that a receiver can change to a new secret without missing a message.

    The timestamp is the time of the attempt, because receivers reject messages that are more than a few minutes old.
    Raises ValueError if a secret isn't valid.
    """
    if not secrets:
        raise ValueError("there is no secret")
    timestamp = int(datetime.fromisoformat(sent_at).timestamp())
    content = f"{message_id}.{timestamp}.".encode() + body
    signed = (b64encode(hmac.digest(secret_bytes(secret), content, "sha256")).decode() for secret in secrets)
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(f"{VERSION},{signature}" for signature in signed),
    }


def github_signature(body: bytes, secret: str) -> str:
    """The value of X-Hub-Signature-256, which has room for one signature."""
    return "sha256=" + hmac.digest(secret.encode(), body, "sha256").hex()
