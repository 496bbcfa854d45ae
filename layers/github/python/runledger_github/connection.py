"""HTTP with urllib3, which botocore has loaded already; only what its versions 1.26 and 2 have in common."""

from collections.abc import Mapping

import urllib3
from urllib3.exceptions import ConnectTimeoutError, HTTPError, MaxRetryError, NewConnectionError

from runledger_github.errors import NoAnswerError
from runledger_github.messages import Answer, Call

HEADERS = {
    "Accept": "application/vnd.github+json",
    "X-GitHub-Api-Version": "2022-11-28",
    "User-Agent": "runledger",
}
CONNECT_SECONDS = 3.0
# A renamed repository is a redirect, and urllib3 takes the token off one that leads elsewhere. Retries are ours.
REDIRECTS_ONLY = urllib3.Retry(
    total=None, connect=0, read=0, status=0, other=0, redirect=3, respect_retry_after_header=False
)


class Connection:
    """One GitHub: `https://api.github.com`, or `https://HOST/api/v3` of an Enterprise Server."""

    def __init__(self, api_url: str, *, read_seconds: float) -> None:
        self._api_url = api_url.rstrip("/")
        self._pool = urllib3.PoolManager(
            timeout=urllib3.Timeout(connect=CONNECT_SECONDS, read=read_seconds), cert_reqs="CERT_REQUIRED"
        )

    def send(self, call: Call, headers: Mapping[str, str]) -> Answer:
        try:
            response = self._pool.request(
                call.method, self._api_url + call.target, headers={**HEADERS, **headers}, retries=REDIRECTS_ONLY
            )
        except HTTPError as error:
            reason = error.reason if isinstance(error, MaxRetryError) else error
            never_sent = isinstance(reason, NewConnectionError | ConnectTimeoutError)
            raise NoAnswerError(f"{call}: {reason}", repeatable=call.repeatable or never_sent) from error
        return Answer(status=response.status, headers=response.headers, body=response.data)
