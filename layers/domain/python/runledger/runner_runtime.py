"""What the functions that deal with runners need beside the ledger: EC2, ECS and prices."""

import time
from collections.abc import Mapping
from functools import cache

from runledger import telemetry
from runledger.aws import client, rarely
from runledger.instances import Instance, describe, describe_tasks
from runledger.lookups import Describe
from runledger.prices import Prices
from runledger.publishers import Publishers
from runledger.publishers import parse as parse_publishers
from runledger.reports import FindPrice, Kind
from runledger.runners import Runners
from runledger.runtime import record, setting
from runledger.scheduling import LauncherEvents
from runledger.tables.runners import RunnersTable


@cache
def runners() -> Runners:
    table = RunnersTable(
        client("dynamodb"), setting("RUNNERS_TABLE"), retention_days=int(setting("RUNNERS_RETENTION_DAYS"))
    )
    return Runners(table=table, record=record, runner_tags=runner_tags())


@cache
def runner_tags() -> Mapping[str, str]:
    """Empty where the tags of well-known launchers count."""
    tags = [each.partition("=") for each in setting("RUNNER_TAGS", default="").split(",") if each]
    return {name: value or "*" for name, _, value in tags}


@cache
def launcher_events() -> LauncherEvents:
    publishers = Publishers(
        own_account=setting("OWN_ACCOUNT"), entries=parse_publishers(setting("EVENT_PUBLISHERS", default="[]"))
    )
    return LauncherEvents(runners=runners(), publishers=publishers, describe=describe_runner(), find_price=find_price())


@cache
def find_price() -> FindPrice:
    """Most launchers tell the price, and then nobody is asked."""
    pricing = rarely("pricing", "us-east-1")  # tells the prices of every region
    warn = telemetry.logger.warning
    return Prices(rarely("ec2"), pricing, region=setting("AWS_REGION"), clock=time.time, warn=warn).find


@cache
def describe_runner() -> Describe:
    cluster, pool_tags = setting("ECS_CLUSTER"), tuple(setting("POOL_TAGS").split(","))

    def describe_one(runner_id: str, kind: Kind) -> Instance | None:
        if kind is Kind.EC2:
            found = describe(rarely("ec2"), [runner_id], pool_tags=pool_tags)
        else:
            found = describe_tasks(rarely("ecs"), cluster, [runner_id], pool_tags=pool_tags)
        return next(iter(found.values()), None)

    return describe_one
