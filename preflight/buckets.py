"""The buckets of the storage phases. A deployment doesn't check them, because it only uses their names."""

from http import HTTPStatus
from typing import Any

from botocore.exceptions import ClientError

from preflight.results import Ok, Outcome, Problem, Skipped
from stacks.settings import CREATE, Settings


def buckets(session: Any, settings: Settings) -> Outcome:
    """They must exist in this account and region. S3 compares the account, and returns the region."""
    phase = settings.storage_phase
    named = {
        "webhook_bucket": settings.webhook_bucket if phase.uses_webhook_bucket else "",
        "runner_config_bucket": settings.runner_config_bucket.removeprefix(CREATE),
    }
    wanted = {setting: bucket for setting, bucket in named.items() if bucket}
    if not wanted:
        return Skipped(f"storage_phase `{phase}` uses no existing bucket")
    account = session.client("sts").get_caller_identity()["Account"]
    s3 = session.client("s3")
    for setting, bucket in wanted.items():
        try:
            found = s3.head_bucket(Bucket=bucket, ExpectedBucketOwner=account)
        except ClientError as error:
            status = error.response["ResponseMetadata"]["HTTPStatusCode"]
            what = (
                "doesn't exist"
                if status == HTTPStatus.NOT_FOUND
                else f"isn't readable, or isn't in account {account} ({status})"
            )
            return Problem(f"the bucket {bucket} {what}", f"correct `{setting}`: see docs/migration.md")
        region = found.get("BucketRegion", session.region_name)
        if region != session.region_name:
            return Problem(f"the bucket {bucket} is in {region}", f"deploy to {region}, or correct `{setting}`")
    return Ok(", ".join(wanted.values()))
