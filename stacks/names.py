"""Names of stacks, and of resources with fixed names. Other stacks and tools derive them from the stage."""

from enum import StrEnum


class Part(StrEnum):
    """The stacks in the main region, in the order of their deployment."""

    DATA = "data"
    EVENTS = "events"
    API = "api"
    OBSERVABILITY = "observability"


def prefix_of(stage: str) -> str:
    """The beginning of the names of stacks and of resources with fixed names."""
    return f"runledger-{stage}"


def stack_name(stage: str, part: Part) -> str:
    return f"{prefix_of(stage)}-{part}"


def forwarder_stack(stage: str, region: str, main_region: str) -> str:
    """Contains both regions, because deployments of one stage in two regions may share a region with runners."""
    return f"{prefix_of(stage)}-{region}-to-{main_region}"


def fixed_table_name(stage: str, table: str) -> str:
    return f"{prefix_of(stage)}-{table}"


def log_group_name(stage: str, function: str) -> str:
    """A fixed name, so that saved queries in another stack need no reference to it."""
    return f"/runledger/{stage}/{function}"


def access_log_name(stage: str) -> str:
    """API Gateway adds each log group to a policy of at most 5,120 characters, except log groups with this prefix."""
    return f"/aws/vendedlogs/runledger/{stage}/api"


def camel_case(name: str) -> str:
    """`webhook_intake` → `WebhookIntake`, for logical ids."""
    return "".join(word.capitalize() for word in name.split("_"))
