"""The AWS account and its regions: whether they are ready for a deployment."""

from typing import Any

from botocore.exceptions import ClientError

from preflight.cloudformation import find_stack, obstacle
from preflight.results import Ok, Outcome, Problem

BOOTSTRAP_VERSION = "/cdk-bootstrap/hnb659fds/version"
OLDEST_BOOTSTRAP = 6
# What one deployment needs: with less, a burst on one queue leaves no concurrency for webhooks.
FEWEST_CONCURRENT = 50
INCREASE = (
    "aws service-quotas request-service-quota-increase --service-code lambda --quota-code L-B99A9384 "
    "--desired-value 1000"
)


def region(session: Any) -> Outcome:
    if not session.region_name:
        return Problem("none is chosen", "set AWS_REGION, or `region` in your AWS profile")
    return Ok(session.region_name)


def credentials(session: Any) -> Outcome:
    caller = session.client("sts").get_caller_identity()
    return Ok(f"account {caller['Account']} as {caller['Arn']}")


def bootstrap(session: Any, command: str = "cdk bootstrap") -> Outcome:
    command = f"run `{command}`"
    try:
        found = session.client("ssm").get_parameter(Name=BOOTSTRAP_VERSION)["Parameter"]["Value"]
    except ClientError as error:
        if error.response["Error"]["Code"] != "ParameterNotFound":
            raise
        return Problem("CDK isn't bootstrapped in this account and region", command)
    if int(found) < OLDEST_BOOTSTRAP:
        return Problem(f"version {found} is older than {OLDEST_BOOTSTRAP}", command)
    return Ok(f"version {found}")


def runner_region(session: Any, forwarder: str) -> Outcome:
    """A region whose events are forwarded. It must be bootstrapped too, and its stack must be updatable."""
    account = session.client("sts").get_caller_identity()["Account"]
    prepared = bootstrap(session, f"cdk bootstrap aws://{account}/{session.region_name}")
    if not isinstance(prepared, Ok):
        return prepared
    stack = find_stack(session, forwarder)
    if stack is None:
        return Ok(f"bootstrap {prepared.detail}; {forwarder} doesn't exist yet")
    return obstacle(stack, session.region_name) or Ok(f"bootstrap {prepared.detail}; {forwarder} can be updated")


def concurrency(session: Any) -> Outcome:
    limits = session.client("lambda").get_account_settings()["AccountLimit"]
    free = limits["UnreservedConcurrentExecutions"]
    if free < FEWEST_CONCURRENT:
        return Problem(
            f"Lambda has only {free} unreserved concurrent executions, so a burst delays webhooks; this is enough for "
            "a trial, but not for production",
            INCREASE,
        )
    return Ok(f"{free} unreserved concurrent executions")
