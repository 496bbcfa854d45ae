"""Environment variables that several functions share. `runledger.wiring.settings` reads them."""

from collections.abc import Mapping
from typing import Any

import aws_cdk as cdk

from stacks.settings import Settings
from stacks.settings_reader import BadSetting

# Lambda's limit. CloudFormation reports it only after it has deployed the other stacks.
LARGEST_ENVIRONMENT = 4096
# On average. The name of a resource begins with the name of its stack, and few values are URLs or ARNs.
AVERAGE_NAME_SUFFIX_BYTES = 60
# SQS's limit. CloudFormation shortens the names that it generates.
LONGEST_QUEUE_NAME = 80


def stuck_thresholds(settings: Settings) -> dict[str, str]:
    """When a job counts as stuck, for the reconciler and the API."""
    return {
        "STUCK_QUEUED_MINUTES": str(settings.stuck_queued_minutes),
        "STUCK_SCHEDULED_MINUTES": str(settings.stuck_scheduled_minutes),
        "LONG_RUNNING_HOURS": str(settings.long_running_hours),
        "FORGOTTEN_APPROVAL_HOURS": str(settings.forgotten_approval_hours),
        "RUNNER_REQUESTS_AT_MOST": str(settings.runner_requests_at_most),
    }


def github_app(settings: Settings, secret_arn: str) -> dict[str, str]:
    """For functions that call GitHub. They also need permission to read the secret."""
    return {"GITHUB_APP": secret_arn, "GITHUB_API_URL": settings.github_api_url}


def machine_scope(settings: Settings) -> dict[str, str]:
    """The account and the regions whose EC2 and ECS machines the deployment can describe."""
    return {"OWN_ACCOUNT": cdk.Aws.ACCOUNT_ID, "RUNNER_REGIONS": ",".join(settings.runner_regions)}


def runner_machines(settings: Settings) -> dict[str, str]:
    """Which machines are runners, and where and how they are described."""
    return {
        **machine_scope(settings),
        "POOL_TAGS": settings.pool_tags,
        "ECS_CLUSTERS": ",".join(settings.ecs_clusters),
        "RUNNER_TAGS": tag_list(settings.runner_tags),
    }


def tag_list(tags: Mapping[str, str]) -> str:
    """`name=value,name=value`"""
    return ",".join(f"{name}={value}" for name, value in tags.items())


def check_size(stack: cdk.Stack, function: str, environment: Mapping[str, str]) -> None:
    """Raises BadSetting if the environment is too large. The sizes of references are estimates, because their values
    are known only after deployment.
    """
    reference = len(stack.stack_name) + AVERAGE_NAME_SUFFIX_BYTES
    size = sum(len(name) + _size(stack.resolve(value), reference) for name, value in environment.items())
    if size > LARGEST_ENVIRONMENT:
        raise BadSetting(
            f"the settings are too long for the environment of {function}, which has about {size:,} bytes and can have "
            f"{LARGEST_ENVIRONMENT:,}: use shorter or fewer feed_types, notification_sns_topics, "
            "notification_event_buses and notification_slack_hosts"
        )


def _size(value: Any, reference: int) -> int:
    """The size of a value in bytes. It may contain references, each of which counts as this size."""
    if isinstance(value, str):
        return len(value.encode())
    if "Fn::Join" in value:
        separator, parts = value["Fn::Join"]
        return sum(_size(part, reference) for part in parts) + len(separator) * (len(parts) - 1)
    return min(reference, LONGEST_QUEUE_NAME) if "QueueName" in str(value) else reference
