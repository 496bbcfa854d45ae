"""What functions that track machines need in addition to the ledger: EC2, ECS and prices."""

import time
from collections.abc import Mapping
from functools import cache, partial

from runledger.model.dataclass import dataclass
from runledger.model.instance import FindMachine
from runledger.model.keys import JobKey
from runledger.model.places import Scope
from runledger.model.prices import FindPrice
from runledger.platform import logs, retries
from runledger.platform.clients import lazy_client
from runledger.runners import telemetry
from runledger.runners.fleet import Fleet
from runledger.runners.launcher_events import LauncherEvents
from runledger.runners.lookups import MachineLookups
from runledger.runners.prices import Prices
from runledger.runners.publishers import Publishers
from runledger.runners.publishers import parse as parse_publishers
from runledger.runners.tracker import RunnerTracker
from runledger.wiring.recording import ledger
from runledger.wiring.runner_tables import runners_table
from runledger.wiring.settings import RunnerConfigSettings, Settings, names_in, parsed, tags_in
from runledger.wiring.tables import installations


@dataclass(frozen=True, slots=True, kw_only=True)
class RunnerSettings(Settings):
    """Read by every function that tracks machines. Without `runner_tags`, the tags of well-known launchers count."""

    own_account: str
    aws_region: str
    runner_regions: tuple[str, ...] = parsed(names_in, default=())
    runner_tags: Mapping[str, str] = parsed(tags_in, default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetSettings(Settings):
    """Read by functions that describe machines. Only the reconciler, which terminates machines, has `keep_tags`."""

    ecs_clusters: tuple[str, ...] = parsed(names_in)
    pool_tags: tuple[str, ...] = parsed(names_in)
    keep_tags: Mapping[str, str] = parsed(tags_in, default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class LauncherSettings(Settings):
    event_publishers: str = "[]"


@cache
def settings() -> RunnerSettings:
    return RunnerSettings.from_environment()


@cache
def scope() -> Scope:
    """The region of the deployment comes first, because most machines are there."""
    regions = dict.fromkeys((settings().aws_region, *settings().runner_regions))
    return Scope(account_id=settings().own_account, regions=tuple(regions))


@cache
def tracker() -> RunnerTracker:
    def undo_unsaved(job: JobKey) -> None:
        if retries.is_retry():
            ledger().undo_unsaved_events(*job)

    return RunnerTracker(
        table=runners_table(),
        record=ledger().record,
        undo_unsaved=undo_unsaved,
        runner_tags=settings().runner_tags,
        scope=scope(),
    )


@cache
def fleet() -> Fleet:
    fleet_settings = FleetSettings.from_environment()
    return Fleet(
        client=lazy_client,
        scope=scope(),
        clusters=fleet_settings.ecs_clusters,
        tags=settings().runner_tags,
        pool_tags=fleet_settings.pool_tags,
        on_deferred=telemetry.lookup_deferred,
        keep_tags=fleet_settings.keep_tags,
    )


@cache
def find_machine() -> FindMachine:
    """For lookups: a runner config in S3 may add values that EC2 doesn't have."""
    if not RunnerConfigSettings.from_environment().runner_config_bucket:
        return fleet().find
    from runledger.wiring import migration  # noqa: PLC0415 - only the phase that reads runner configs loads it

    return migration.with_fallback(fleet().find, runner_tags=settings().runner_tags)


@cache
def lookups() -> MachineLookups:
    return MachineLookups(
        tracker=tracker(), find_machine=find_machine(), find_price=find_price(), arns_of=fleet().arns_of
    )


@cache
def launcher_events() -> LauncherEvents:
    entries = parse_publishers(LauncherSettings.from_environment().event_publishers)
    publishers = Publishers(own_account=settings().own_account, entries=entries)
    return LauncherEvents(
        tracker=tracker(),
        publishers=publishers,
        find_machine=fleet().find,
        find_price=find_price(),
        github_account=installations().account,
    )


@cache
def find_price() -> FindPrice:
    """Most launchers report the price, and then AWS isn't called."""
    pricing = lazy_client("pricing", "us-east-1")  # has the prices of every region
    return Prices(
        partial(lazy_client, "ec2"),
        pricing,
        regions=scope().regions,
        clock=time.time,
        warn=logs.logger.warning,
        on_deferred=telemetry.lookup_deferred,
    ).find
