"""The settings in the context of cdk.json or `cdk -c name=value`, checked before anything is deployed."""

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from runledger.migration import key_pattern
from runledger.migration.key_pattern import KeyPattern
from runledger.migration.phases import StoragePhase
from runledger.model import runner_names
from runledger.model.passes import OrphanMode
from runledger.model.releases import RebuildMode
from runledger.model.runs import RerunPolicy
from runledger.notifications.channels.configs import SLACK_HOSTS
from runledger.runners.publishers import Publisher
from runledger.tables import schema

from stacks.names import prefix_of
from stacks.settings_reader import BadSetting, SettingsReader

# The retention periods that CloudWatch Logs accepts.
LOG_RETENTION_DAYS = (1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3653)

CREATE = "create"  # a bucket that the stack creates, instead of the name of an existing one

REPLACED = {
    "event_publisher_accounts": "event_publishers",
    "ecs_cluster": "ecs_clusters, which takes names separated by commas",
    "rerun_own_failures": "rerun, which takes never, interrupted or any_failure",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """The auto-scaling limits with provisioned capacity. They apply to every table and index."""

    read_min: int
    read_max: int
    write_min: int
    write_max: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    stage: str
    throw_away: bool
    architecture: Literal["arm64", "host"]
    retention_days: Mapping[str, int]
    point_in_time_recovery: bool
    streams: bool
    provisioned: Capacity | None
    snap_start: bool
    queue_max_concurrency: int
    intake_reserved_concurrency: int
    webhook_rate_limit: int
    webhook_burst_limit: int
    api_rate_limit: int
    api_burst_limit: int
    page_rate_limit: int
    page_burst_limit: int
    github_api_url: str
    jwt_issuer: str
    jwt_audience: str
    forgotten_approval_hours: int
    event_publishers: tuple[Publisher, ...]
    instance_id_pattern: str
    pool_tags: str
    ecs_clusters: tuple[str, ...]
    ecs_event_clusters: tuple[str, ...]
    stuck_queued_minutes: int
    stuck_scheduled_minutes: int
    long_running_hours: int
    runner_requests_at_most: int
    orphans: OrphanMode
    runner_tags: Mapping[str, str]
    runner_regions: tuple[str, ...]
    keep_tags: dict[str, str]
    orphan_grace_minutes: int
    runner_registration_minutes: int
    redeliveries_at_most: int
    github_budget_for_others_percent: int
    reruns_at_most: int
    rerun: RerunPolicy
    log_retention_days: int
    log_level: str
    alarm_email: str
    no_webhook_alarm_minutes: int
    queue_time_alarm_minutes: int
    storage_phase: StoragePhase
    webhook_bucket: str
    webhook_key_pattern: KeyPattern
    runner_config_bucket: str
    runner_role_ids: tuple[str, ...]
    feeds: bool
    feed_types: tuple[str, ...]
    feed_posts_per_minute: int
    notifications: bool
    notification_sns_topics: Mapping[str, str]
    notification_event_buses: Mapping[str, str]
    notification_slack_hosts: tuple[str, ...]
    notification_allow_loopback: bool
    notifications_per_hour: int
    releases: bool
    rebuild_dependents: RebuildMode

    @property
    def prefix(self) -> str:
        return prefix_of(self.stage)

    def regions_beside(self, main_region: str | None) -> tuple[str, ...]:
        """Regions with runners whose events are forwarded to the main region."""
        if self.runner_regions and not main_region:
            raise BadSetting("runner_regions is set, but the region to deploy to isn't set: set AWS_REGION")
        return tuple(each for each in self.runner_regions if each != main_region)

    @classmethod
    def read(cls, context: Callable[[str], Any]) -> "Settings":
        """`context` returns None for a name that isn't set. Values from the command line are strings."""
        read = SettingsReader(context)
        for name, replacement in REPLACED.items():
            if context(name) is not None:
                raise BadSetting(f"{name} was replaced by {replacement}")
        capacity = Capacity(
            read_min=read.whole("read_capacity_min", 5, at_least=1, at_most=40_000),
            read_max=read.whole("read_capacity_max", 1000, at_least=1, at_most=40_000),
            write_min=read.whole("write_capacity_min", 5, at_least=1, at_most=40_000),
            write_max=read.whole("write_capacity_max", 1000, at_least=1, at_most=40_000),
        )
        for kind, low, high in (
            ("read", capacity.read_min, capacity.read_max),
            ("write", capacity.write_min, capacity.write_max),
        ):
            if low > high:
                raise BadSetting(f"{kind}_capacity_min is {low}, above {kind}_capacity_max, which is {high}")
        mode = read.choice("capacity", "on-demand", ("on-demand", "provisioned"))
        log_retention_days = read.whole("log_retention_days", 30, at_least=1, at_most=3653)
        if log_retention_days not in LOG_RETENTION_DAYS:
            days = ", ".join(map(str, LOG_RETENTION_DAYS))
            raise BadSetting(f"log_retention_days is {log_retention_days}; it must be one of {days}")
        jwt_issuer = read.matching("jwt_issuer", "", r"(https://\S+)?", "the https address of an issuer, or empty")
        jwt_audience = read.matching("jwt_audience", "", r"\S*", "the audience of JWTs for this API, or empty")
        if bool(jwt_issuer) != bool(jwt_audience):
            raise BadSetting("jwt_issuer and jwt_audience must both be set, or neither")
        throw_away = read.boolean("throw_away", default=False)
        built_for = read.choice("architecture", "arm64", ("arm64", "host"))
        if built_for == "host" and not throw_away:
            raise BadSetting("architecture is 'host', which is for local deployments: it needs throw_away = true")
        orphans = OrphanMode(read.choice("orphans", OrphanMode.REPORT, tuple(OrphanMode)))
        runner_tags = read.tags("runner_tags")
        if orphans is OrphanMode.ENFORCE and not runner_tags:
            raise BadSetting(
                "orphans is 'enforce', but runner_tags is empty: set runner_tags to the tags of your runners"
            )
        return cls(
            stage=read.matching("stage", "prod", r"[a-z][a-z0-9]{0,15}", "a lower-case word of at most 16 characters"),
            throw_away=throw_away,
            architecture=built_for,  # type: ignore[arg-type]
            retention_days={
                table.name: read.whole(f"{table.name}_retention_days", table.retention_days, at_least=1, at_most=3650)
                for table in (*schema.TABLES, *schema.OPTIONAL)
            },
            point_in_time_recovery=read.boolean("point_in_time_recovery", default=False),
            streams=read.boolean("streams", default=False),
            provisioned=capacity if mode == "provisioned" else None,
            snap_start=read.boolean("snap_start", default=False),
            # Lambda accepts no less than 2 for a queue.
            queue_max_concurrency=read.whole("queue_max_concurrency", 2, at_least=2, at_most=1000),
            intake_reserved_concurrency=read.whole("intake_reserved_concurrency", 0, at_least=0, at_most=1000),
            webhook_rate_limit=read.whole("webhook_rate_limit", 500, at_least=1, at_most=10_000),
            webhook_burst_limit=read.whole("webhook_burst_limit", 1000, at_least=1, at_most=5_000),
            api_rate_limit=read.whole("api_rate_limit", 100, at_least=1, at_most=10_000),
            api_burst_limit=read.whole("api_burst_limit", 200, at_least=1, at_most=5_000),
            page_rate_limit=read.whole("page_rate_limit", 20, at_least=1, at_most=10_000),
            page_burst_limit=read.whole("page_burst_limit", 50, at_least=1, at_most=5_000),
            github_api_url=read.matching(
                "github_api_url",
                "https://api.github.com",
                # The App's token goes there: http is for the simulated GitHub on this machine.
                r"(https://[^\s/@]+|http://(127(\.\d{1,3}){3}|\[::1\]|localhost)(:\d+)?)(/[^\s]*[^\s/])?",
                "the https address of GitHub's REST API, for an Enterprise Server https://HOST/api/v3",
            ),
            jwt_issuer=jwt_issuer,
            jwt_audience=jwt_audience,
            forgotten_approval_hours=read.whole("forgotten_approval_hours", 24, at_least=1, at_most=24 * 90),
            event_publishers=read.publishers("event_publishers"),
            instance_id_pattern=read.pattern("instance_id_pattern", runner_names.INSTANCE_ID),
            pool_tags=read.matching(
                "pool_tags",
                ",".join(runner_names.POOL_TAGS),
                r"[^,\s][^,]*(,[^,\s][^,]*)*",
                "tag names separated by commas",
            ),
            ecs_clusters=read.clusters("ecs_clusters", "default"),
            ecs_event_clusters=read.clusters("ecs_event_clusters"),
            stuck_queued_minutes=read.whole("stuck_queued_minutes", 10, at_least=1, at_most=24 * 60),
            stuck_scheduled_minutes=read.whole("stuck_scheduled_minutes", 10, at_least=1, at_most=24 * 60),
            long_running_hours=read.whole("long_running_hours", 6, at_least=1, at_most=24 * 5),
            runner_requests_at_most=read.whole("runner_requests_at_most", 5, at_least=0, at_most=20),
            orphans=orphans,
            runner_tags=runner_tags,
            runner_regions=read.regions("runner_regions"),
            keep_tags=read.tags("keep_tags", "ghr:created_by=pool-lambda"),
            orphan_grace_minutes=read.whole("orphan_grace_minutes", 10, at_least=0, at_most=24 * 60),
            runner_registration_minutes=read.whole("runner_registration_minutes", 10, at_least=1, at_most=24 * 60),
            redeliveries_at_most=read.whole("redeliveries_at_most", 6, at_least=0, at_most=10),
            github_budget_for_others_percent=read.whole(
                "github_budget_for_others_percent", 50, at_least=0, at_most=100
            ),
            reruns_at_most=read.whole("reruns_at_most", 1, at_least=0, at_most=10),
            rerun=RerunPolicy(read.choice("rerun", RerunPolicy.INTERRUPTED, tuple(RerunPolicy))),
            log_retention_days=log_retention_days,
            log_level=read.choice("log_level", "INFO", ("DEBUG", "INFO", "WARNING", "ERROR")),
            alarm_email=read.matching("alarm_email", "", r"([^@\s]+@[^@\s]+)?", "an e-mail address, or empty"),
            # Longer than a weekend, and shorter than the three days in which GitHub can redeliver.
            no_webhook_alarm_minutes=read.whole("no_webhook_alarm_minutes", 66 * 60, at_least=0, at_most=7 * 24 * 60),
            queue_time_alarm_minutes=read.whole("queue_time_alarm_minutes", 30, at_least=0, at_most=24 * 60),
            **_storage(read),
            feeds=read.boolean("feeds", default=False),
            feed_types=read.feed_types("feed_types"),
            feed_posts_per_minute=read.whole("feed_posts_per_minute", 300, at_least=1, at_most=6000),
            **_notifications(read, throw_away=throw_away),
            releases=read.boolean("releases", default=False),
            rebuild_dependents=RebuildMode(read.choice("rebuild_dependents", RebuildMode.DRY_RUN, tuple(RebuildMode))),
        )


def _storage(read: SettingsReader) -> dict[str, Any]:
    """The settings in docs/migration.md. Each phase needs certain buckets."""
    phase = StoragePhase(read.choice("storage_phase", StoragePhase.DYNAMODB_ONLY, tuple(StoragePhase)))
    webhooks, configs = read.bucket("webhook_bucket"), read.bucket("runner_config_bucket", or_else=CREATE)
    role_ids, shared = read.role_ids("runner_role_ids"), read.boolean("webhook_keys_shared", default=False)
    writes = partial(KeyPattern.parse_for_writing, shared=shared)
    parse = writes if phase.copies_webhooks else KeyPattern.parse_in_folder
    pattern = read.key_pattern("webhook_key_pattern", key_pattern.DEFAULT, parse)
    if phase.uses_webhook_bucket and not webhooks:
        raise BadSetting(f"storage_phase is '{phase}', which needs webhook_bucket: the bucket with your webhooks")
    if phase.reads_runner_configs and not (configs and role_ids):
        raise BadSetting(f"storage_phase is '{phase}', which needs runner_config_bucket and runner_role_ids")
    return {
        "storage_phase": phase,
        "webhook_bucket": webhooks,
        "webhook_key_pattern": pattern,
        "runner_config_bucket": configs,
        "runner_role_ids": role_ids,
    }


def _notifications(read: SettingsReader, *, throw_away: bool) -> dict[str, Any]:
    """Notifications need the feed. The settings name the topics and buses: API users can't choose others."""
    notifications = read.boolean("notifications", default=False)
    if notifications and not read.boolean("feeds", default=False):
        raise BadSetting("notifications is true, which needs feeds: set feeds to true as well")
    allow_loopback = read.boolean("notification_allow_loopback", default=False)
    if allow_loopback and not throw_away:
        raise BadSetting(
            "notification_allow_loopback is true, which is for local deployments: it needs throw_away = true"
        )
    return {
        "notifications": notifications,
        "notification_sns_topics": read.targets("notification_sns_topics", "sns"),
        "notification_event_buses": read.targets("notification_event_buses", "events"),
        "notification_slack_hosts": read.hosts("notification_slack_hosts", ",".join(SLACK_HOSTS)),
        "notification_allow_loopback": allow_loopback,
        "notifications_per_hour": read.whole("notifications_per_hour", 10_000, at_least=1, at_most=1_000_000),
    }


def reject_unknown(names: Iterable[str]) -> None:
    """Rejects unknown settings, because a misspelled one would have no effect. CDK's own names contain `:` or `/`."""
    known: set[str] = set()
    Settings.read(known.add)  # `add` returns None, as for a setting that isn't given
    for name in names:
        if name not in known and not re.search("[:/]", name):
            similar = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {similar[0]}?" if similar else "docs/settings.md lists them"
            raise BadSetting(f"{name} is not a setting: {hint}")
