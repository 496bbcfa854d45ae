"""What the functions that ask GitHub need: they, and only they, have the layer of its client."""

import json
import time
from collections.abc import Callable
from functools import cache
from typing import Any, Generic, TypeVar

from botocore.exceptions import BotoCoreError, ClientError
from runledger.model.errors import UnavailableError
from runledger.model.job import Job
from runledger.model.reports import Approval
from runledger.platform import logs
from runledger.platform.clients import client
from runledger.queries.caches import DeploymentCache, DeploymentRefresh
from runledger.runners.reruns import Reruns
from runledger.tables.rerun_claims import RerunClaims
from runledger.tables.runs import RunsTable
from runledger.wiring.recording import deployments, record, setting

from runledger_github.app import GitHubApp
from runledger_github.errors import GitHubRefusal
from runledger_github.requests import Requests
from runledger_github.retries import Patience
from runledger_github.truth import Truth

Made = TypeVar("Made")
# How long a warm function uses the App that it has read.
READ_AGAIN_SECONDS = 300.0


class AppSecret:
    """The GitHub App, as its secret holds it: an App that is added or a key that is replaced needs no cold start."""

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
                logs.logger.warning("GitHub App not read again", exc_info=True)
        return self._value

    def _read(self) -> str:
        return str(self._secrets.get_secret_value(SecretId=self._secret_id)["SecretString"])


@cache
def app_secret() -> AppSecret:
    return AppSecret(client("secretsmanager"), setting("GITHUB_APP"), clock=time.monotonic)


class PerApp(Generic[Made]):
    """Made once, and again when the App's secret has changed."""

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


@PerApp
def truth() -> Truth | None:
    """None until somebody has put a GitHub App into its secret: then we know what webhooks tell, and no more."""
    secret = app_secret().value()
    if not json.loads(secret):
        return None
    patience = Patience(seconds=float(setting("GITHUB_PATIENCE_SECONDS", default="30")))
    return Truth(app=GitHubApp.from_secret(secret, api_url=setting("GITHUB_API_URL"), patience=patience))


@PerApp
def is_pending() -> Callable[[Job, bool], bool]:
    """Whether a waiting job still waits for an approval: GitHub's answer where it may be asked, else the table's."""
    known = truth()
    cache = None
    if known:
        refresh = DeploymentRefresh(deployments=deployments(), ask=known.deployment)
        cache = DeploymentCache(deployments=deployments(), refresh=refresh)

    def pending(job: Job, may_ask: bool) -> bool:
        if job.deployment_id is None or job.repo_full_name is None:
            return True
        try:
            ask = cache.get if cache and may_ask else _do_not_ask
            found = ask(job.installation_id, job.repo_full_name, job.deployment_id)
        except (GitHubRefusal, UnavailableError):
            found = None  # one approval that cannot be asked about must not hide the others
        if found is None:
            found = deployments().get(job.installation_id, job.deployment_id)
        return found is None or found.get("status") == Approval.PENDING

    return pending


def _do_not_ask(_installation_id: int, _repo_full_name: str, _deployment_id: int) -> None:
    return None


@PerApp
def requests() -> Requests:
    runs = RunsTable(client("dynamodb"), setting("RUNS_TABLE"), retention_days=int(setting("RUNS_RETENTION_DAYS")))
    return Requests(truth=truth(), runs=runs, deployments=deployments())


@PerApp
def reruns() -> Reruns | None:
    """None without a GitHub App: nobody else may ask for a re-run."""
    known = truth()
    if known is None:
        return None
    return Reruns(
        claims=RerunClaims(client("dynamodb"), setting("RUNS_TABLE")),
        record=record,
        github=known.app.installation,
        refusals=(GitHubRefusal,),
        at_most=int(setting("RERUNS_AT_MOST")),
        own_failures_too=setting("RERUN_OWN_FAILURES") == "true",
    )
