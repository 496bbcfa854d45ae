"""Wires the API: tables, the GitHub requests function, and authentication."""

import json
import time
from collections.abc import Mapping
from functools import cache
from typing import Any

from runledger.feeds.queue import FeedQueue
from runledger.feeds.writer import Payloads
from runledger.model import times
from runledger.model.dataclass import dataclass
from runledger.model.keys import DeploymentKey, RunKey
from runledger.model.packages import REPORTS_PER_MINUTE
from runledger.model.passes import OrphanMode
from runledger.notifications.administration import Administration
from runledger.platform.clients import client, lazy_client, slow_client
from runledger.queries import caches
from runledger.queries.caches import Cache
from runledger.queries.dead_letters import DeadLetterQueues
from runledger.queries.pass_requests import PassRequests
from runledger.queries.workflows import Workflows
from runledger.releases.queue import PublicationQueue
from runledger.tables.builds import BuildsTable
from runledger.tables.event_pages import EventPages
from runledger.tables.feed import FeedTable
from runledger.tables.heads import HeadsTable
from runledger.tables.installations import KnownInstallations
from runledger.tables.job_pages import JobPages
from runledger.tables.messages import MessagesTable
from runledger.tables.packages import PackagesTable
from runledger.tables.release_lines import LinesTable
from runledger.tables.request_counts import RequestCounts
from runledger.tables.run_attempts import RunAttempts
from runledger.wiring import feeds
from runledger.wiring import notifications as notifications_wiring
from runledger.wiring.runner_tables import passes
from runledger.wiring.runner_tables import runners_table as runners
from runledger.wiring.settings import (
    MissingSetting,
    PublicationQueueSettings,
    Settings,
    TableSettings,
    open_table,
    parsed,
)
from runledger.wiring.stuck import stuck_thresholds
from runledger.wiring.tables import deployments, jobs, runs
from runledger.wiring.tables import installations as registry

from runledger_api.authentication import Authenticator, Tokens, Verifier
from runledger_api.cursors import Cursors
from runledger_api.github import GitHub
from runledger_api.jwts import Jwts
from runledger_api.read_units import ReadUnitMeter

# These imports are for the routes, too, which use them as `wiring.jobs`. The functions below are just as public.
__all__ = ["deployments", "jobs", "passes", "registry", "runners", "stuck_thresholds"]


def queue_urls(text: str) -> Mapping[str, str]:
    """By queue name. Only the first value is a complete URL. The others are names: all URLs begin alike."""
    found: Mapping[str, str] = json.loads(text)
    begin = next(iter(found.values()), "").rpartition("/")[0]
    return {name: value if "/" in value else f"{begin}/{value}" for name, value in found.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiSettings(Settings):
    """Without `jwt_issuer`, only the API's own tokens are accepted."""

    api_tokens: str
    github_requests_function: str
    github_requests_seconds: float
    reconciler_function: str
    orphan_grace_minutes: int
    orphans: OrphanMode
    jwt_issuer: str = ""
    jwt_audience: str = ""
    dead_letter_queues: Mapping[str, str] = parsed(queue_urls)

    def __post_init__(self) -> None:
        """Without an audience, a JWT that its issuer made for another service would be accepted."""
        if self.jwt_issuer and not self.jwt_audience:
            raise MissingSetting("JWT_AUDIENCE")


@cache
def settings() -> ApiSettings:
    return ApiSettings.from_environment()


@cache
def meter() -> ReadUnitMeter:
    return ReadUnitMeter(client("dynamodb"))


@cache
def tokens() -> Tokens:
    return Tokens(client("secretsmanager"), settings().api_tokens, clock=time.monotonic)


@cache
def authenticator() -> Authenticator:
    verifiers: list[Verifier] = [tokens()]
    if settings().jwt_issuer:
        verifiers.append(Jwts(issuer=settings().jwt_issuer, audience=settings().jwt_audience))
    return Authenticator(verifiers=tuple(verifiers))


@cache
def cursors() -> Cursors:
    return Cursors(lambda: tokens().cursor_key())


@cache
def installations() -> KnownInstallations:
    return KnownInstallations(registry())


@cache
def job_pages() -> JobPages:
    return JobPages(client("dynamodb"), TableSettings.of("JOBS").table)


@cache
def event_pages() -> EventPages:
    return EventPages(client("dynamodb"), TableSettings.of("JOB_EVENTS").table)


@dataclass(frozen=True, slots=True, kw_only=True)
class Feed:
    table: FeedTable
    queue: FeedQueue
    payloads: Payloads
    posts: RequestCounts


@cache
def feed() -> Feed | None:
    """None if the event feed is turned off."""
    queue = feeds.queue()
    if queue is None:
        return None
    return Feed(table=feeds.table(), queue=queue, payloads=feeds.payloads(), posts=feeds.posts())


@dataclass(frozen=True, slots=True, kw_only=True)
class Notifications:
    administration: Administration
    messages: MessagesTable


@cache
def notifications() -> Notifications | None:
    """None if notifications are turned off."""
    if not notifications_wiring.is_on():
        return None
    return Notifications(administration=notifications_wiring.administration(), messages=notifications_wiring.messages())


@dataclass(frozen=True, slots=True, kw_only=True)
class Releases:
    heads: HeadsTable
    packages: PackagesTable
    builds: BuildsTable
    lines: LinesTable
    publications: PublicationQueue
    reports: RequestCounts
    retention_days: int


@cache
def releases() -> Releases | None:
    """None if heads and releases are turned off."""
    publications = PublicationQueueSettings.from_environment().release_inputs_queue
    if not publications:
        return None
    table, dynamodb = TableSettings.of("RELEASES"), client("dynamodb")
    return Releases(
        heads=open_table(HeadsTable, "RELEASES"),
        packages=PackagesTable(dynamodb, table.table),
        builds=open_table(BuildsTable, "RELEASES"),
        lines=open_table(LinesTable, "RELEASES"),
        publications=PublicationQueue(sqs=lazy_client("sqs"), url=publications),
        reports=RequestCounts(dynamodb, table.table, label="releases", most_per_minute=REPORTS_PER_MINUTE),
        retention_days=table.retention_days,
    )


@cache
def run_attempts() -> RunAttempts:
    return RunAttempts(client("dynamodb"), TableSettings.of("RUNS").table)


@cache
def workflows() -> Workflows:
    return Workflows(runs=runs())


@cache
def github_requests_client() -> Any:
    return slow_client("lambda", read_seconds=settings().github_requests_seconds)


@cache
def github() -> GitHub:
    return GitHub(github_requests_client, settings().github_requests_function, clock=time.monotonic)


@cache
def run_cache() -> Cache[RunKey]:
    return caches.run_cache(runs(), github().refresh_run)


@cache
def deployment_cache() -> Cache[DeploymentKey]:
    return caches.deployment_cache(deployments(), github().refresh_deployment)


@cache
def pass_requests() -> PassRequests:
    return PassRequests(lambdas=lazy_client("lambda"), function=settings().reconciler_function, passes=passes())


@cache
def dead_letters() -> DeadLetterQueues:
    return DeadLetterQueues(lazy_client("sqs"), settings().dead_letter_queues)


def orphan_grace_seconds() -> int:
    return settings().orphan_grace_minutes * times.SECONDS_PER_MINUTE


def forgotten_approval_seconds() -> int:
    return stuck_thresholds().forgotten_approval_hours * times.SECONDS_PER_HOUR
