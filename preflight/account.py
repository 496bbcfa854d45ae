"""The AWS account and region: whether they are ready for a first deployment."""

from typing import Any

from botocore.exceptions import ClientError

from preflight.results import Ok, Outcome, Problem

BOOTSTRAP_VERSION = "/cdk-bootstrap/hnb659fds/version"
OLDEST_BOOTSTRAP = 6
# The functions of one deployment: with fewer, a burst on one queue leaves nothing for webhooks.
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


def bootstrap(session: Any) -> Outcome:
    command = "run `node_modules/.bin/cdk bootstrap`"
    try:
        found = session.client("ssm").get_parameter(Name=BOOTSTRAP_VERSION)["Parameter"]["Value"]
    except ClientError as error:
        if error.response["Error"]["Code"] != "ParameterNotFound":
            raise
        return Problem("CDK is not bootstrapped in this account and region", command)
    if int(found) < OLDEST_BOOTSTRAP:
        return Problem(f"version {found} is older than {OLDEST_BOOTSTRAP}", command)
    return Ok(f"version {found}")


def concurrency(session: Any) -> Outcome:
    limits = session.client("lambda").get_account_settings()["AccountLimit"]
    free = limits["UnreservedConcurrentExecutions"]
    if free < FEWEST_CONCURRENT:
        return Problem(
            f"Lambda runs at most {free} functions at once (unreserved), so a burst delays webhooks; "
            "enough for a trial, not for production",
            INCREASE,
        )
    return Ok(f"{free} unreserved concurrent executions")
