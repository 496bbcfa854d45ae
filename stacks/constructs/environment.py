"""Environment variables that several functions share. `runledger.wiring.settings` reads them."""

from collections.abc import Mapping

import aws_cdk as cdk

from stacks.settings import Settings


def stuck_thresholds(settings: Settings) -> dict[str, str]:
    """When a job is stuck, for the reconciler and the API."""
    return {
        "STUCK_QUEUED_MINUTES": str(settings.stuck_queued_minutes),
        "STUCK_SCHEDULED_MINUTES": str(settings.stuck_scheduled_minutes),
        "LONG_RUNNING_HOURS": str(settings.long_running_hours),
        "FORGOTTEN_APPROVAL_HOURS": str(settings.forgotten_approval_hours),
        "RUNNER_REQUESTS_AT_MOST": str(settings.runner_requests_at_most),
    }


def github_app(settings: Settings, secret_arn: str) -> dict[str, str]:
    """For functions that call GitHub. They also need the permission to read the secret."""
    return {"GITHUB_APP": secret_arn, "GITHUB_API_URL": settings.github_api_url}


def machine_scope(settings: Settings) -> dict[str, str]:
    """The account and the regions in which EC2 and ECS show whether a machine is gone."""
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
