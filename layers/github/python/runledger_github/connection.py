"""HTTP with urllib3, which botocore loads anyway. Uses only the API that urllib3 1.26 and 2 share."""

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import urllib3
from runledger.model.addresses import is_encrypted_or_local
from runledger.model.errors import NoResponseError
from urllib3.exceptions import ConnectTimeoutError, HTTPError, MaxRetryError, NewConnectionError

from runledger_github.calls import Call, Response
from runledger_github.errors import OutOfTime
from runledger_github.retries import Deadline

HEADERS = {
    "Accept": "application/vnd.github+json",
    "X-GitHub-Api-Version": "2022-11-28",
    "User-Agent": "runledger",
}
CONNECT_SECONDS = 3.0
# GitHub redirects calls to renamed repositories; urllib3 removes the token if the host changes. `retries.py` retries.
REDIRECTS_ONLY = urllib3.Retry(
    total=None, connect=0, read=0, status=0, other=0, redirect=3, respect_retry_after_header=False
)


class Connection:
    """`api_url` is `https://api.github.com`, or `https://HOST/api/v3` for an Enterprise Server."""

    def __init__(self, api_url: str, *, read_seconds: float, deadline: Deadline) -> None:
        _require_encryption(api_url)
        self._api_url = api_url.rstrip("/")
        self._read_seconds = read_seconds
        self._deadline = deadline
        self._pool = urllib3.PoolManager(cert_reqs="CERT_REQUIRED")

    def send(self, call: Call, headers: Mapping[str, str]) -> Response:
        seconds_left = self._deadline.seconds_left()
        if seconds_left <= 0:
            raise OutOfTime(f"{call}: not called, because the deadline has passed")
        timeout = urllib3.Timeout(
            connect=min(CONNECT_SECONDS, seconds_left), read=min(self._read_seconds, seconds_left)
        )
        content: dict[str, Any] = {}
        if call.body is not None:
            content, headers = {"body": json.dumps(call.body)}, {**headers, "Content-Type": "application/json"}
        try:
            response = self._pool.request(
                call.method,
                self._api_url + call.target,
                **content,
                headers={**HEADERS, **headers},
                retries=REDIRECTS_ONLY,
                timeout=timeout,
            )
        except HTTPError as error:
            reason = error.reason if isinstance(error, MaxRetryError) else error
            never_sent = isinstance(reason, NewConnectionError | ConnectTimeoutError)
            raise NoResponseError(f"{call}: {reason}", repeatable=call.repeatable or never_sent) from error
        return Response(status=response.status, headers=response.headers, body=response.data)


def _require_encryption(api_url: str) -> None:
    """Every call contains a token: plain http is allowed only for a simulated GitHub on a loopback address."""
    netloc = urlsplit(api_url).netloc
    if not is_encrypted_or_local(api_url) or "@" in netloc or "\\" in netloc:
        raise ValueError(f"GitHub's API address {api_url!r} must be an https URL: http would send tokens unencrypted")
