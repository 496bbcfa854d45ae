"""What a user may set in the context of cdk.json or with `cdk -c name=value`, checked before anything is deployed."""

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from runledger.model import runner_names
from runledger.runners import publishers
from runledger.runners.publishers import Publisher
from runledger.tables import schema


class BadSetting(ValueError):
    """A setting cannot be used as it is given."""


# The retention periods that CloudWatch Logs accepts.
LOG_RETENTION_DAYS = (1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3653)

# In bytes. A function's environment holds 4 KB.
LARGEST_LIST_OF_PUBLISHERS = 2500
REPLACED = {"event_publisher_accounts": "event_publishers"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """Bounds between which the auto-scaling of provisioned capacity moves, for every table and index alike."""

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
    ecs_cluster: str
    ecs_event_clusters: tuple[str, ...]
    stuck_queued_minutes: int
    stuck_scheduled_minutes: int
    long_running_hours: int
    runner_requests_at_most: int
    orphans: str
    runner_tags: Mapping[str, str]
    runner_regions: tuple[str, ...]
    keep_tags: dict[str, str]
    orphan_grace_minutes: int
    redeliveries_at_most: int
    github_budget_for_others_percent: int
    reruns_at_most: int
    rerun_own_failures: bool
    log_retention_days: int
    log_level: str
    alarm_email: str
    no_webhook_alarm_minutes: int
    queue_time_alarm_minutes: int

    def regions_beside(self, main_region: str | None) -> tuple[str, ...]:
        """Regions with runners whose events must be forwarded to the main one."""
        if self.runner_regions and not main_region:
            raise BadSetting("runner_regions is set, but the region to deploy to is not known: set AWS_REGION")
        return tuple(each for each in self.runner_regions if each != main_region)

    def forwarder_stack(self, region: str, main_region: str) -> str:
        """With both regions, because deployments of one stage in two regions may share a region with runners."""
        return f"runledger-{self.stage}-{region}-to-{main_region}"

    @classmethod
    def read(cls, context: Callable[[str], Any]) -> "Settings":
        """`context` answers None for a name that is not set; values from the command line arrive as strings."""
        read = _Reader(context)
        for name, replacement in REPLACED.items():
            if context(name) is not None:
                raise BadSetting(f"{name} has become {replacement}")
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
            raise BadSetting(f"log_retention_days is {log_retention_days}; CloudWatch Logs takes one of {days}")
        jwt_issuer = read.matching("jwt_issuer", "", r"(https://\S+)?", "the https address of an issuer, or nothing")
        jwt_audience = read.matching("jwt_audience", "", r"\S*", "the audience that JWTs for this API name, or nothing")
        if bool(jwt_issuer) != bool(jwt_audience):
            raise BadSetting("jwt_issuer and jwt_audience go together: set both, or neither")
        throw_away = read.boolean("throw_away", default=False)
        built_for = read.choice("architecture", "arm64", ("arm64", "host"))
        if built_for == "host" and not throw_away:
            raise BadSetting("architecture is 'host', which is for local deployments: it needs throw_away = true")
        orphans, runner_tags = read.choice("orphans", "report", ("report", "enforce")), read.tags("runner_tags")
        if orphans == "enforce" and not runner_tags:
            raise BadSetting("orphans is 'enforce', but runner_tags is empty: say which machines are runners")
        return cls(
            stage=read.matching("stage", "prod", r"[a-z][a-z0-9]{0,15}", "a lower-case word of at most 16 characters"),
            throw_away=throw_away,
            architecture=built_for,  # type: ignore[arg-type]
            retention_days={
                table.name: read.whole(f"{table.name}_retention_days", table.retention_days, at_least=1, at_most=3650)
                for table in schema.TABLES
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
                "names of tags, with commas",
            ),
            ecs_cluster=read.matching("ecs_cluster", "default", r"[\w-]{1,255}", "the name of an ECS cluster"),
            ecs_event_clusters=read.names("ecs_event_clusters", r"[\w-]{1,255}", "names of ECS clusters, with commas"),
            stuck_queued_minutes=read.whole("stuck_queued_minutes", 10, at_least=1, at_most=24 * 60),
            stuck_scheduled_minutes=read.whole("stuck_scheduled_minutes", 10, at_least=1, at_most=24 * 60),
            long_running_hours=read.whole("long_running_hours", 6, at_least=1, at_most=24 * 5),
            runner_requests_at_most=read.whole("runner_requests_at_most", 5, at_least=0, at_most=20),
            orphans=orphans,
            runner_tags=runner_tags,
            runner_regions=read.regions("runner_regions"),
            keep_tags=read.tags("keep_tags", "ghr:created_by=pool-lambda"),
            orphan_grace_minutes=read.whole("orphan_grace_minutes", 10, at_least=0, at_most=24 * 60),
            redeliveries_at_most=read.whole("redeliveries_at_most", 6, at_least=0, at_most=10),
            github_budget_for_others_percent=read.whole(
                "github_budget_for_others_percent", 50, at_least=0, at_most=100
            ),
            reruns_at_most=read.whole("reruns_at_most", 1, at_least=0, at_most=10),
            rerun_own_failures=read.boolean("rerun_own_failures", default=False),
            log_retention_days=log_retention_days,
            log_level=read.choice("log_level", "INFO", ("DEBUG", "INFO", "WARNING", "ERROR")),
            alarm_email=read.matching("alarm_email", "", r"([^@\s]+@[^@\s]+)?", "an e-mail address, or nothing"),
            # Longer than a weekend, and shorter than the three days for which GitHub can be asked to send again.
            no_webhook_alarm_minutes=read.whole("no_webhook_alarm_minutes", 66 * 60, at_least=0, at_most=7 * 24 * 60),
            queue_time_alarm_minutes=read.whole("queue_time_alarm_minutes", 30, at_least=0, at_most=24 * 60),
        )


def reject_unknown(names: Iterable[str]) -> None:
    """A misspelled setting would silently keep its default. Names that contain `:` or `/` are CDK's own."""
    known: set[str] = set()
    Settings.read(known.add)  # `add` returns None, as for a setting that isn't given
    for name in names:
        if name not in known and not re.search("[:/]", name):
            similar = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {similar[0]}?" if similar else "docs/settings.md lists them"
            raise BadSetting(f"{name} is not a setting: {hint}")


class _Reader:
    """Reads one value at a time; each error names the setting, what was given and what would do."""

    def __init__(self, context: Callable[[str], Any]) -> None:
        self._context = context

    def whole(self, name: str, default: int, *, at_least: int, at_most: int) -> int:
        given = self._given(name, default)
        text = str(given)
        if isinstance(given, bool) or not re.fullmatch(r"-?\d+", text) or not at_least <= int(text) <= at_most:
            raise BadSetting(f"{name} is {given!r}; it must be a whole number from {at_least} to {at_most}")
        return int(text)

    def boolean(self, name: str, *, default: bool) -> bool:
        given = self._given(name, default)
        if str(given).lower() not in ("true", "false"):
            raise BadSetting(f"{name} is {given!r}; it takes true or false")
        return str(given).lower() == "true"

    def choice(self, name: str, default: str, choices: tuple[str, ...]) -> str:
        given = self._given(name, default)
        if given not in choices:
            raise BadSetting(f"{name} is {given!r}; it takes one of {', '.join(choices)}")
        return str(given)

    def matching(self, name: str, default: str, pattern: str, meaning: str) -> str:
        given = self._given(name, default)
        if not isinstance(given, str) or not re.fullmatch(pattern, given):
            raise BadSetting(f"{name} is {given!r}; it takes {meaning}")
        return given

    def publishers(self, name: str) -> tuple[Publisher, ...]:
        try:
            found = publishers.parse(self._given(name, []))
        except ValueError as error:
            raise BadSetting(f"{name} cannot be used: {error}") from error
        if len(publishers.to_json(found)) > LARGEST_LIST_OF_PUBLISHERS:
            raise BadSetting(f"{name} is too long for a function's environment: name fewer sources, or use * in them")
        return found

    def tags(self, name: str, default: str = "") -> dict[str, str]:
        given = self._given(name, default)
        pairs = [each.partition("=") for each in _listed(given)]
        if not isinstance(given, str) or not all(key and value for key, _, value in pairs):
            raise BadSetting(f"{name} is {given!r}; it takes tags as name=value, with commas; * is any value")
        tags = {key: value for key, _, value in pairs}
        if len(tags) < len(pairs):
            raise BadSetting(f"{name} is {given!r}; it takes each tag once")
        return tags

    def regions(self, name: str) -> tuple[str, ...]:
        given = self._given(name, "")
        regions = tuple(dict.fromkeys(_listed(given)))
        if not isinstance(given, str) or not all(re.fullmatch(r"[a-z]{2}(-[a-z]+)+-\d", each) for each in regions):
            raise BadSetting(f"{name} is {given!r}; it takes names of AWS regions, with commas")
        return regions

    def names(self, name: str, pattern: str, meaning: str) -> tuple[str, ...]:
        given = self._given(name, "")
        names = tuple(_listed(given))
        if not isinstance(given, str) or not all(re.fullmatch(pattern, each) for each in names):
            raise BadSetting(f"{name} is {given!r}; it takes {meaning}")
        return names

    def pattern(self, name: str, default: str) -> str:
        given = str(self._given(name, default))
        try:
            re.compile(given)
        except re.error as error:
            raise BadSetting(f"{name} is {given!r}; it takes a regular expression ({error})") from error
        return given

    def _given(self, name: str, default: object) -> object:
        value = self._context(name)
        return default if value is None else value


def _listed(given: object) -> list[str]:
    return [each.strip() for each in str(given).split(",") if each.strip()]
