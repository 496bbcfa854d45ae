"""Delivers webhooks as GitHub does: the same headers, and a signature over the raw body."""

from __future__ import annotations

import hashlib
import hmac
import http.client
import uuid
from dataclasses import dataclass
from urllib.parse import urlsplit

# GitHub waits 10 seconds; on a busy machine the first delivery may take longer to start the function.
_TIMEOUT_SECONDS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    status: int
    body: bytes


def sign(body: bytes, secret: str) -> str:
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def headers(event: str, body: bytes, secret: str, *, delivery_id: str) -> dict[str, str]:
    """Return the headers of a repository hook."""
    return {
        "Accept": "*/*",
        "Content-Type": "application/json",
        "User-Agent": "GitHub-Hookshot/044aadd",
        "X-GitHub-Delivery": delivery_id,
        "X-GitHub-Event": event,
        "X-GitHub-Hook-ID": "481",
        "X-GitHub-Hook-Installation-Target-ID": "186853002",
        "X-GitHub-Hook-Installation-Target-Type": "repository",
        "X-Hub-Signature-256": sign(body, secret),
    }


def post(url: str, body: bytes, request_headers: dict[str, str]) -> Response:
    address = urlsplit(url)
    connection = http.client.HTTPConnection(address.netloc, timeout=_TIMEOUT_SECONDS)
    try:
        connection.request("POST", address.path, body=body, headers=request_headers)
        response = connection.getresponse()
        return Response(status=response.status, body=response.read())
    finally:
        connection.close()


def deliver(url: str, secret: str, event: str, body: bytes) -> Response:
    """Sign and post one delivery with a new id."""
    return post(url, body, headers(event, body, secret, delivery_id=str(uuid.uuid4())))
