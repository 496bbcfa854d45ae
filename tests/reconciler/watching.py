"""Wraps clients of AWS and GitHub so that a test can delay a call or end the process at it."""

import time
from collections.abc import Mapping
from typing import Any, Protocol

from runledger_github.app import DEFAULT_RETRIES, READ_SECONDS, GitHubApp
from runledger_github.calls import Call, Response
from runledger_github.connection import Connection
from runledger_github.credentials import AppKey
from runledger_github.retries import Deadline, Retries

from tests.simulation.engine import Engine, Paginator
from tests.support.stopping import Stopped


class Watch(Protocol):
    def before(self, call: str) -> None: ...
    def after(self, call: str) -> None: ...


class Unwatched:
    def before(self, call: str) -> None:
        pass

    def after(self, call: str) -> None:
        pass


class Watched:
    """Delegates to a watch that a test replaces, because clients take long to create."""

    def __init__(self) -> None:
        self.watch: Watch = Unwatched()

    def before(self, call: str) -> None:
        self.watch.before(call)

    def after(self, call: str) -> None:
        self.watch.after(call)


class StoppingPoint:
    """Ends the process at the n-th of all calls, before or after it takes effect."""

    def __init__(self, number: int, *, after: bool) -> None:
        self._number = number
        self._after = after
        self._calls = 0

    def before(self, call: str) -> None:
        self._calls += 1
        if self._calls == self._number and not self._after:
            raise Stopped(call)

    def after(self, call: str) -> None:
        if self._calls == self._number and self._after:
            raise Stopped(call)


def watch_client(client: Any, watch: Watch) -> Any:
    client.meta.events.register("before-call", lambda model, **_: watch.before(model.name))
    client.meta.events.register("after-call", lambda model, **_: watch.after(model.name))
    return client


class WatchedEngine:
    """DynamoDB in memory behind a watch. Calls have botocore's names, and each page of a paginator is a call."""

    def __init__(self, engine: Engine, watch: Watch) -> None:
        self._engine = engine
        self._watch = watch

    def __getattr__(self, operation: str) -> Any:
        call, name = getattr(self._engine, operation), operation.title().replace("_", "")

        def watched(**request: Any) -> Any:
            self._watch.before(name)
            try:
                return call(**request)
            finally:
                self._watch.after(name)

        return watched

    def get_paginator(self, operation: str) -> Paginator:
        return Paginator(getattr(self, operation))


def watched_app(secret: str, api_url: str, watch: Watch) -> GitHubApp:
    deadline = Deadline(time.time)
    return GitHubApp(
        AppKey.from_secret(secret, clock=time.time),
        connection=_WatchedConnection(api_url, watch, deadline),
        retries=Retries(DEFAULT_RETRIES, deadline=deadline, clock=time.time, sleep=time.sleep),
        deadline=deadline,
        clock=time.time,
    )


class _WatchedConnection(Connection):
    def __init__(self, api_url: str, watch: Watch, deadline: Deadline) -> None:
        super().__init__(api_url, read_seconds=READ_SECONDS, deadline=deadline)
        self._watch = watch

    def send(self, call: Call, headers: Mapping[str, str]) -> Response:
        self._watch.before(str(call))
        response = super().send(call, headers)
        self._watch.after(str(call))
        return response
