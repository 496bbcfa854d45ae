"""Names in the account that collide with a deployment, and resources that an earlier deployment left behind."""

from collections.abc import Iterator
from typing import Any

from preflight import cloudformation
from preflight.results import Ok, Outcome, Problem
from stacks.names import Part, prefix_of, stack_name

REMOVAL = "docs/runbook.md#remove-a-deployment"


def fixed_names(session: Any, stage: str) -> Outcome:
    """Dashboards, alarms, their topic, log groups and the bus have fixed names. A deployment fails if one is in use.

    Names in this deployment's own stacks don't count, even if its first deployment failed. A deployment of the stage in
    another region may forward events from here, but its names are all different.
    """
    ours = [each for each in cloudformation.our_stacks(session) if each.name.startswith(f"{prefix_of(stage)}-")]
    own = cloudformation.resources(session, ours)
    taken = [f"{kind} {name}" for kind, name, resource in _in_use(session, stage) if resource not in own]
    if taken:
        return Problem(f"already used by something else: {', '.join(taken)}", "delete it, or choose another `stage`")
    return Ok("free, or in use by this deployment")


def _in_use(session: Any, stage: str) -> Iterator[tuple[str, str, str]]:
    """The kind, name and id of every resource whose name a deployment of the stage would use."""
    prefix = prefix_of(stage)
    cloudwatch, logs = session.client("cloudwatch"), session.client("logs")
    wanted = {prefix, f"{prefix}-{session.region_name}"}
    for page in cloudwatch.get_paginator("list_dashboards").paginate(DashboardNamePrefix=prefix):
        names = [each["DashboardName"] for each in page["DashboardEntries"]]
        yield from (("dashboard", name, name) for name in names if name in wanted)
    for page in cloudwatch.get_paginator("describe_alarms").paginate(AlarmNamePrefix=f"{prefix}-"):
        yield from (("alarm", each["AlarmName"], each["AlarmName"]) for each in page["MetricAlarms"])
    for page in session.client("sns").get_paginator("list_topics").paginate():
        arns = [each["TopicArn"] for each in page["Topics"]]
        yield from (("topic", name, arn) for arn in arns if (name := arn.rpartition(":")[2]) == f"{prefix}-alarms")
    buses = session.client("events").list_event_buses(NamePrefix=prefix)["EventBuses"]
    yield from (("event bus", prefix, prefix) for each in buses if each["Name"] == prefix)
    for group_prefix in (f"/runledger/{stage}/", f"/aws/vendedlogs/runledger/{stage}/"):
        for page in logs.get_paginator("describe_log_groups").paginate(logGroupNamePrefix=group_prefix):
            yield from (("log group", each["logGroupName"], each["logGroupName"]) for each in page["logGroups"])


def leftovers(session: Any, stage: str) -> Outcome:
    """Tables and queues of deleted stacks. A new deployment wouldn't use them: it creates resources with new names."""
    left = []
    if cloudformation.find_stack(session, stack_name(stage, Part.DATA)) is None:
        pages = session.client("dynamodb").get_paginator("list_tables").paginate()
        names = [name for page in pages for name in page["TableNames"]]
        left += [f"table {name}" for name in names if name.startswith(f"{stack_name(stage, Part.DATA)}-")]
    for part in (Part.EVENTS, Part.API):
        if cloudformation.find_stack(session, stack_name(stage, part)) is None:
            prefix = f"{stack_name(stage, part)}-"
            urls = session.client("sqs").list_queues(QueueNamePrefix=prefix).get("QueueUrls", [])
            left += [f"queue {url.rpartition('/')[2]}" for url in urls]
    if left:
        return Problem(
            f"an earlier deployment left {', '.join(left)}; a new deployment would start with empty tables",
            f"import the tables, or delete these resources ({REMOVAL})",
        )
    return Ok("an earlier deployment left nothing behind")
