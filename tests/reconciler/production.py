"""The reconciler's own composition, on the clients and the clock of a test."""

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from runledger.platform import clients
from runledger.platform.clock import SystemClock
from runledger.reconciliation.cleanup import Cleanup
from runledger_github import reconciler_wiring, wiring
from runledger_github.state import GitHubState

from tests.reconciler.wiring import GRACE_MINUTES, Clock
from tests.support.settings import SETTINGS, forget_wiring

ENVIRONMENT = SETTINGS | {"ORPHANS": "enforce", "ORPHAN_GRACE_MINUTES": str(GRACE_MINUTES)}


@contextmanager
def wired_cleanup(services: Mapping[str, Any], *, app: Any, clock: Clock) -> Iterator[Cleanup]:
    """`services` are the clients by the name of their service. `app` stands where the GitHub App is."""
    session = SimpleNamespace(create_client=lambda service, **_: services[service])
    secret = SimpleNamespace(value=lambda: "an App")
    with ExitStack() as patches:
        for each in (
            patch.dict(os.environ, ENVIRONMENT),
            patch.object(clients, "session", lambda: session),
            patch.object(
                clients, "without_garbage_collection", nullcontext
            ),  # it would keep the garbage of each timeline for good
            patch.object(wiring, "app_secret", lambda: secret),
            patch.object(reconciler_wiring, "github_state", lambda: GitHubState(app=app, clock=clock.seconds)),
            patch.object(reconciler_wiring, "clock", SystemClock(now=clock.seconds)),
        ):
            patches.enter_context(each)
        _forget()
        patches.callback(_forget)
        yield reconciler_wiring.cleanup()


def _forget() -> None:
    clients.client.cache_clear()
    forget_wiring()
