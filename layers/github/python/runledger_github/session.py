"""One caller's conversation with GitHub: credential, budget, conditional requests, retries and pages."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Protocol

from runledger_github.connection import Connection
from runledger_github.errors import NoAnswerError, RateLimited
from runledger_github.etags import ETags, Kept
from runledger_github.limits import Budget
from runledger_github.messages import Answer, Call
from runledger_github.retries import Retries
from runledger_github.verdicts import NOT_MODIFIED, SERVER_ERROR, UNAUTHORIZED, accept


class Credential(Protocol):
    def bearer(self) -> str: ...

    def renew(self) -> bool:
        """Whether the next `bearer` will be another one than GitHub has just refused."""


class Session:
    """For one thread, as GitHub wants it: calls side by side are what its secondary limits are about."""

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

    def ask(self, call: Call) -> Any:
        return self._answer(call).document

    def pages(self, call: Call) -> Iterator[Answer]:
        following: Call | None = call
        while following is not None:
            answer = self._answer(following)
            yield answer
            following = replace(call, query=answer.next_query) if answer.next_query else None

    def once(self, call: Call) -> Answer:
        """One try, its renewed token included, for whoever brings patience of their own."""
        if not call.free:
            self._ensure_not_limited()
        kept = self._etags.find(self._caller, call.target) if call.conditional else None
        answer = self._send(call, kept)
        if answer.status == UNAUTHORIZED and self._credential.renew():
            answer = self._send(call, kept)
        self._note_budget(answer)
        try:
            accept(answer, call, caller=self._caller, now=self._clock())
        except RateLimited as limit:
            self._limited_until = limit.until
            raise
        if kept and answer.status == NOT_MODIFIED:
            return replace(answer, body=kept.body)
        _ensure_readable(answer, call)
        if call.conditional:
            self._etags.keep(self._caller, call.target, answer)
        return answer

    def _ensure_not_limited(self) -> None:
        """A limit is about the caller, whatever was asked: GitHub bans those that go on asking before it ends."""
        now = self._clock()
        if self.budget and self.budget.exhausted(now):
            raise RateLimited(self._caller, until=self.budget.resets_at)
        if now < self._limited_until:
            raise RateLimited(self._caller, until=self._limited_until)

    def _answer(self, call: Call) -> Answer:
        return self._retries.until_answered(lambda: self.once(call))

    def _send(self, call: Call, kept: Kept | None) -> Answer:
        headers = {"Authorization": f"Bearer {self._credential.bearer()}"}
        if kept:
            headers["If-None-Match"] = kept.etag
        return self._connection.send(call, headers)

    def _note_budget(self, answer: Answer) -> None:
        """A bad credential is told an anonymous caller's budget, and an answer in trouble anything."""
        if answer.status != UNAUTHORIZED and answer.status < SERVER_ERROR:
            self.budget = Budget.in_headers(answer.headers) or self.budget


def _ensure_readable(answer: Answer, call: Call) -> None:
    try:
        _ = answer.document
    except ValueError as error:
        raise NoAnswerError(f"{call}: the answer is no JSON", repeatable=call.repeatable) from error
