"""Calls with one credential: rate limit, conditional requests, retries and pages."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Protocol

from runledger.model.errors import NoResponseError, RateLimited

from runledger_github.calls import Call, Response
from runledger_github.connection import Connection
from runledger_github.etags import CachedResponse, ETags
from runledger_github.limits import Budget
from runledger_github.retries import Retries
from runledger_github.statuses import NOT_MODIFIED, SERVER_ERROR, UNAUTHORIZED, raise_for_status


class Credential(Protocol):
    def bearer(self) -> str: ...

    def renew(self) -> bool:
        """True if the next `bearer` differs from the one that GitHub refused."""


class Session:
    """Not thread-safe: concurrent calls would exceed GitHub's secondary limits."""

    def __init__(
        self,
        caller: str,
        credential: Credential,
        *,
        connection: Connection,
        retries: Retries,
        etags: ETags,
        clock: Callable[[], float],
    ) -> None:
        self._caller = caller
        self._credential = credential
        self._connection = connection
        self._retries = retries
        self._etags = etags
        self._clock = clock
        self.budget: Budget | None = None
        self._limited_until = 0.0

    def json(self, call: Call) -> Any:
        return self._send_with_retries(call).document

    def pages(self, call: Call) -> Iterator[Response]:
        next_call: Call | None = call
        while next_call is not None:
            response = self._send_with_retries(next_call)
            yield response
            next_call = replace(call, query=response.next_query) if response.next_query else None

    def send_once(self, call: Call) -> Response:
        """One attempt, with at most one token renewal, for callers that retry themselves."""
        self._ensure_not_limited()
        cached = self._etags.find(self._caller, call.target) if call.conditional else None
        response = self._send(call, cached)
        if response.status == UNAUTHORIZED and self._credential.renew():
            response = self._send(call, cached)
        self._update_budget(response)
        try:
            raise_for_status(response, call, caller=self._caller, now=self._clock())
        except RateLimited as limit:
            self._limited_until = limit.until
            raise
        if cached and response.status == NOT_MODIFIED:
            return replace(response, body=cached.body)
        _ensure_json(response, call)
        if call.conditional:
            self._etags.store(self._caller, call.target, response)
        return response

    def _ensure_not_limited(self) -> None:
        """A limit applies to all calls of a caller. GitHub may ban an App that continues to call during a limit."""
        now = self._clock()
        if self.budget and self.budget.exhausted(now):
            raise RateLimited(self._caller, until=self.budget.resets_at)
        if now < self._limited_until:
            raise RateLimited(self._caller, until=self._limited_until)

    def _send_with_retries(self, call: Call) -> Response:
        return self._retries.run(lambda: self.send_once(call))

    def _send(self, call: Call, cached: CachedResponse | None) -> Response:
        headers = {"Authorization": f"Bearer {self._credential.bearer()}"}
        if cached:
            headers["If-None-Match"] = cached.etag
        return self._connection.send(call, headers)

    def _update_budget(self, response: Response) -> None:
        """Ignores a 401, which has the budget of anonymous callers, and a 5xx, which may come from a proxy."""
        if response.status != UNAUTHORIZED and response.status < SERVER_ERROR:
            self.budget = Budget.from_headers(response.headers) or self.budget


def _ensure_json(response: Response, call: Call) -> None:
    try:
        _ = response.document
    except ValueError as error:
        raise NoResponseError(f"{call}: the response isn't JSON", repeatable=call.repeatable) from error
