"""Composition of the functions that call GitHub, except for the reconciler."""

import json
import time
from collections.abc import Callable
from functools import cache
from typing import Any, Generic, TypeVar

from botocore.exceptions import BotoCoreError, ClientError
from runledger.model.dataclass import dataclass
from runledger.model.runs import RerunPolicy
from runledger.platform import logs
from runledger.platform.clients import client
from runledger.platform.clock import SystemClock
from runledger.queries.caches import Refresh, deployment_cache
from runledger.runners.reruns import Reruns
from runledger.tables.lookup_counts import LookupCounts
from runledger.tables.rerun_claims import RerunClaims
from runledger.wiring.recording import ledger
from runledger.wiring.settings import Settings, TableSettings
from runledger.wiring.tables import deployments, installations, runs

from runledger_github.api_requests import Requests
from runledger_github.app import GitHubApp
from runledger_github.approvals import PendingApprovals
from runledger_github.lookups import MAX_PER_MINUTE, Lookups
from runledger_github.retries import RetryLimits
from runledger_github.state import GitHubState

Made = TypeVar("Made")
# How long a warm function uses the secret that it has read.
READ_AGAIN_SECONDS = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class GitHubSettings(Settings):
    """Read by every function that calls GitHub."""

    github_app: str
    github_api_url: str
    github_patience_seconds: float = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RerunSettings(Settings):
    rerun: RerunPolicy
    reruns_at_most: int


class AppSecret:
    """The GitHub App's secret, read again from time to time: a new App or a new key needs no cold start."""

    def __init__(self, secrets: Any, secret_id: str, *, clock: Callable[[], float]) -> None:
        self._secrets = secrets
        self._secret_id = secret_id
        self._clock = clock
        self._value: str | None = None
        self._read_at = 0.0

    def value(self) -> str:
        if self._value is None:
            self._value, self._read_at = self._read(), self._clock()
        elif self._clock() >= self._read_at + READ_AGAIN_SECONDS:
            self._read_at = self._clock()
            try:
                self._value = self._read()
            except (BotoCoreError, ClientError):
                logs.logger.warning("GitHub App secret not re-read; the cached one is used", exc_info=True)
        return self._value

    def _read(self) -> str:
        return str(self._secrets.get_secret_value(SecretId=self._secret_id)["SecretString"])


@cache
def settings() -> GitHubSettings:
    return GitHubSettings.from_environment()


@cache
def app_secret() -> AppSecret:
    return AppSecret(client("secretsmanager"), settings().github_app, clock=time.monotonic)


class CachedPerApp(Generic[Made]):
    """An object that is created once, and again when the App's secret has changed."""

    def __init__(self, make: Callable[[], Made]) -> None:
        self._make = make
        self._made: tuple[str, Made] | None = None

    def __call__(self) -> Made:
        secret = app_secret().value()
        if self._made is None or self._made[0] != secret:
            self._made = secret, self._make()
        return self._made[1]

    def cache_clear(self) -> None:
        self._made = None


@CachedPerApp
def github_state() -> GitHubState | None:
    """None while the secret holds no GitHub App: then webhooks are the only source."""
    secret = app_secret().value()
    if not json.loads(secret):
        return None
    limits = RetryLimits(seconds=settings().github_patience_seconds)
    return GitHubState(app=GitHubApp.from_secret(secret, api_url=settings().github_api_url, limits=limits))


@CachedPerApp
def pending_approvals() -> PendingApprovals:
    github, table = github_state(), deployments()
    cache = deployment_cache(table, Refresh(table=table, fetch=github.deployment)) if github else None
    return PendingApprovals(deployments=table, cache=cache)


@CachedPerApp
def requests() -> Requests:
    counts = LookupCounts(client("dynamodb"), TableSettings.of("RUNS").table, max_per_minute=MAX_PER_MINUTE)
    lookups = Lookups(registry=installations(), counts=counts, time=SystemClock())
    return Requests(github=github_state(), runs=runs(), deployments=deployments(), lookups=lookups)


@CachedPerApp
def reruns() -> Reruns | None:
    """None without a GitHub App, because only an App can request a re-run."""
    limits = RerunSettings.from_environment()
    claims = RerunClaims(client("dynamodb"), TableSettings.of("RUNS").table)
    recorder = ledger()
    github = github_state()
    if github is None:
        return None
    return Reruns(
        claims=claims,
        record=recorder.record,
        github=github.app.installation,
        at_most=limits.reruns_at_most,
        has_gates=recorder.gates.exist,
        policy=limits.rerun,
    )
