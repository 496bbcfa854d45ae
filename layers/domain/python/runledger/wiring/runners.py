"""What the functions that deal with runners need beside the ledger: EC2, ECS and prices."""

import time
from collections.abc import Mapping
from functools import cache, partial

from runledger.model.places import Scope
from runledger.model.reports import FindPrice
from runledger.platform import logs
from runledger.platform.clients import client, rarely
from runledger.runners.fleet import Fleet
from runledger.runners.launcher_events import LauncherEvents
from runledger.runners.prices import Prices
from runledger.runners.publishers import Publishers
from runledger.runners.publishers import parse as parse_publishers
from runledger.runners.tracker import Runners
from runledger.tables.runners import RunnersTable
from runledger.wiring.recording import installations, record, setting


@cache
def runners() -> Runners:
    table = RunnersTable(
        client("dynamodb"), setting("RUNNERS_TABLE"), retention_days=int(setting("RUNNERS_RETENTION_DAYS"))
    )
    return Runners(table=table, record=record, runner_tags=runner_tags(), scope=scope())


@cache
def scope() -> Scope:
    """The region of the deployment comes first: most machines are there."""
    named = [each for each in setting("RUNNER_REGIONS", default="").split(",") if each]
    regions = dict.fromkeys((setting("AWS_REGION"), *named))
    return Scope(account_id=setting("OWN_ACCOUNT"), regions=tuple(regions))


@cache
def fleet() -> Fleet:
    return Fleet(
        client=rarely,
        scope=scope(),
        cluster=setting("ECS_CLUSTER"),
        tags=runner_tags(),
        pool_tags=tuple(setting("POOL_TAGS").split(",")),
        postponed=logs.lookup_postponed,
        keep_tags=tags_in(setting("KEEP_TAGS", default="")),
    )


@cache
def runner_tags() -> Mapping[str, str]:
    """Empty where the tags of well-known launchers count."""
    return tags_in(setting("RUNNER_TAGS", default=""))


def tags_in(text: str) -> Mapping[str, str]:
    """Of `name=value,name=value`."""
    tags = [each.partition("=") for each in text.split(",") if each]
    return {name: value or "*" for name, _, value in tags}


@cache
def launcher_events() -> LauncherEvents:
    publishers = Publishers(
        own_account=setting("OWN_ACCOUNT"), entries=parse_publishers(setting("EVENT_PUBLISHERS", default="[]"))
    )
    return LauncherEvents(
        runners=runners(),
        publishers=publishers,
        describe=fleet().find,
        find_price=find_price(),
        account=installations().account,
    )


@cache
def find_price() -> FindPrice:
    """Most launchers report the price, and then AWS is not asked."""
    pricing = rarely("pricing", "us-east-1")  # has the prices of every region
    return Prices(
        partial(rarely, "ec2"),
        pricing,
        regions=scope().regions,
        clock=time.time,
        warn=logs.logger.warning,
        postponed=logs.lookup_postponed,
    ).find
