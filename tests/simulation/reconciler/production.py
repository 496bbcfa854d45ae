"""The functions' own composition, over the clients and in the time of a world.

Nothing is put together here: `runledger.wiring` does that, from the settings that the stacks set. Only the outermost
things are replaced: botocore's session, urllib3's pool, the App's signature, and the clock.
"""

import importlib.util
import itertools
import logging
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Protocol
from unittest.mock import patch

import urllib3
from runledger.platform import clients, emf, logs
from runledger.platform.clock import SystemClock
from runledger.queries import caches, pass_requests
from runledger.reconciliation import reconciler
from runledger.recording.ledger import Ledger
from runledger.runners.launcher_events import LauncherEvents
from runledger.runners.reruns import Reruns
from runledger.runners.tracker import RunnerTracker
from runledger.webhooks.intake import Intake
from runledger.wiring import recording, runners
from runledger_github import app as github_app
from runledger_github import reconciler_wiring, wiring
from runledger_github.app import READ_SECONDS, GitHubApp
from runledger_github.state import GitHubState

from tests.simulation.reconciler.github import Response, UnsignedKey
from tests.support.settings import SETTINGS, forget_wiring

FUNCTIONS = Path(__file__).parents[3] / "functions"
LAMBDA_SECONDS = 600
ONLY_DIGITS = str.maketrans("", "", "-:.")
ENVIRONMENT = SETTINGS | {"ORPHANS": "enforce", "RUNNER_REQUESTS_AT_MOST": "5", "REDELIVERIES_AT_MOST": "6"}


class World(Protocol):
    def client(self, service: str) -> Any: ...
    def call_github(self, method: str, target: str, headers: Mapping[str, str], timeout: float) -> Response: ...
    def now(self) -> float: ...
    def sleep(self, seconds: float) -> None: ...
    def emitted(self, metrics: Mapping[str, float], about: Mapping[str, Any]) -> None: ...


class _Session:
    def __init__(self, world: World) -> None:
        self._world = world

    def create_client(self, service: str, **_: Any) -> Any:
        return self._world.client(service)


class _Pool:
    """Stands where urllib3's pool of connections is."""

    def __init__(self, world: World) -> None:
        self._world = world

    def request(
        self, method: str, url: str, *, headers: Mapping[str, str], timeout: urllib3.Timeout | None = None, **_: Any
    ) -> Response:
        read = (timeout.read_timeout if timeout else None) or READ_SECONDS
        return self._world.call_github(method, url.removeprefix(SETTINGS["GITHUB_API_URL"]), headers, read)


class _App(GitHubApp):
    world: World

    @classmethod
    def from_secret(cls, secret_json: str, **options: Any) -> Any:
        return GitHubApp.from_secret(secret_json, **options, clock=cls.world.now, sleep=cls.world.sleep)


@contextmanager
def wired_to(world: World, environment: Mapping[str, str] = ENVIRONMENT) -> Iterator[None]:
    """Within this context, everything that is wired works on this world."""
    time = SystemClock(now=world.now, sleep=world.sleep)
    numbers = itertools.count(1)

    def pause(tries: int) -> None:
        world.sleep(0.005 * 2**tries)

    patches: list[Any] = [
        patch.dict(os.environ, environment, clear=True),
        patch.object(clients, "session", lambda: _Session(world)),
        # It would keep the garbage of each world for good.
        patch.object(clients, "without_garbage_collection", nullcontext),
        patch.object(urllib3, "PoolManager", lambda **_: _Pool(world)),
        patch.object(github_app, "AppKey", UnsignedKey),
        patch.object(reconciler_wiring, "clock", time),
        patch.object(wiring, "GitHubApp", type("App", (_App,), {"world": world})),
        patch.object(wiring, "GitHubState", partial(GitHubState, clock=world.now)),
        patch.object(wiring, "Refresh", partial(caches.Refresh, time=time)),
        patch.object(wiring, "Reruns", partial(Reruns, time=time, new_owner=lambda: f"owner {next(numbers)}")),
        patch.object(recording, "Ledger", partial(Ledger, pause=pause)),
        patch.object(runners, "time", SimpleNamespace(time=world.now)),
        *(
            patch.object(module, "new_pass_id", lambda at: f"{at.translate(ONLY_DIGITS)}-{next(numbers)}")
            for module in (pass_requests, reconciler)
        ),
        patch.object(wiring, "deployment_cache", partial(caches.deployment_cache, time=time)),
        patch.object(emf, "write", lambda metrics, *, about, **_: world.emitted(metrics, about)),
    ]
    level = logs.logger.log_level
    for each in patches:
        each.start()
    logs.logger.setLevel(logging.CRITICAL)
    _forget_all()
    try:
        yield
    finally:
        for each in reversed(patches):
            each.stop()
        logs.logger.setLevel(level)
        _forget_all()


def _forget_all() -> None:
    clients.client.cache_clear()
    forget()


def forget() -> None:
    """What is composed next is a new process, which remembers nothing."""
    forget_wiring()


@dataclass(frozen=True, slots=True)
class Receiving:
    """The functions that take in what happens: webhooks, launchers' events, EC2's events and lookups."""

    intake: Intake
    launcher_events: LauncherEvents
    runners: RunnerTracker
    describe: Callable[..., Any]
    find_price: Callable[..., Any]

    @classmethod
    def start(cls) -> "Receiving":
        forget()
        return cls(
            recording.intake(),
            runners.launcher_events(),
            runners.tracker(),
            runners.fleet().find,
            runners.find_price(),
        )


Handler = Callable[[dict[str, Any], Any], dict[str, Any]]


def start_reconciler() -> Handler:
    return start_function("reconciler")


def start_function(name: str) -> Handler:
    """The function itself, loaded as Lambda loads it."""
    forget()
    spec = importlib.util.spec_from_file_location(f"{name}_process", FUNCTIONS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    handler: Handler = module.handler
    return handler
