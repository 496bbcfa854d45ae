"""Names in the account that a deployment would collide with, or that an earlier installation left behind."""

from collections.abc import Iterator
from typing import Any

from preflight import cloudformation
from preflight.results import Ok, Outcome, Problem

REMOVAL = "docs/operating.md#remove-it"


def fixed_names(session: Any, stage: str) -> Outcome:
    """Dashboards, alarms, log groups and the bus have fixed names, and a deployment fails if a name is in use.

    The stacks of this deployment that exist already use theirs: also if its first deployment stopped halfway.
    """
    own = cloudformation.resources(session, cloudformation.parts(session, stage))
    taken = [f"{kind} {name}" for kind, name in _in_use(session, stage) if name not in own]
    if taken:
        return Problem(f"taken by something else: {', '.join(taken)}", "delete it, or choose another `stage`")
    return Ok("free, or in use by this deployment")


def _in_use(session: Any, stage: str) -> Iterator[tuple[str, str]]:
    """Kind and name of everything that has a name which a deployment of the stage would give."""
    prefix = f"runledger-{stage}"
    cloudwatch, logs = session.client("cloudwatch"), session.client("logs")
    wanted = {prefix, f"{prefix}-{session.region_name}"}
    for page in cloudwatch.get_paginator("list_dashboards").paginate(DashboardNamePrefix=prefix):
        yield from (
            ("dashboard", name) for each in page["DashboardEntries"] if (name := each["DashboardName"]) in wanted
        )
    for page in cloudwatch.get_paginator("describe_alarms").paginate(AlarmNamePrefix=f"{prefix}-"):
        yield from (("alarm", each["AlarmName"]) for each in page["MetricAlarms"])
    buses = session.client("events").list_event_buses(NamePrefix=prefix)["EventBuses"]
    yield from (("event bus", each["Name"]) for each in buses if each["Name"] == prefix)
    for group_prefix in (f"/runledger/{stage}/", f"/aws/vendedlogs/runledger/{stage}/"):
        for page in logs.get_paginator("describe_log_groups").paginate(logGroupNamePrefix=group_prefix):
            yield from (("log group", each["logGroupName"]) for each in page["logGroups"])


def leftovers(session: Any, stage: str) -> Outcome:
    """A new deployment would not use them: it creates resources with new names."""
    left = []
    if cloudformation.find_stack(session, f"runledger-{stage}-data") is None:
        pages = session.client("dynamodb").get_paginator("list_tables").paginate()
        names = [name for page in pages for name in page["TableNames"]]
        left += [f"table {name}" for name in names if name.startswith(f"runledger-{stage}-data-")]
    for part in ("events", "api"):
        if cloudformation.find_stack(session, f"runledger-{stage}-{part}") is None:
            prefix = f"runledger-{stage}-{part}-"
            urls = session.client("sqs").list_queues(QueueNamePrefix=prefix).get("QueueUrls", [])
            left += [f"queue {url.rpartition('/')[2]}" for url in urls]
    if left:
        return Problem(
            f"an earlier installation left {', '.join(left)}; a deployment would start with empty tables",
            f"import the tables, or remove what is left ({REMOVAL})",
        )
    return Ok("nothing is left of an earlier installation")
