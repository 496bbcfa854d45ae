"""The buckets of the storage phases, as `make preflight` checks them."""

from types import SimpleNamespace
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber
from runledger.migration.phases import StoragePhase

from preflight import buckets
from preflight.results import Ok, Outcome, Problem, Skipped
from stacks.settings import CREATE

ACCOUNT = "123456789012"
WANTED = {"Bucket": "acme-webhooks", "ExpectedBucketOwner": ACCOUNT}


def checked(response: dict[str, Any] | int, phase: StoragePhase = StoragePhase.DUAL_WRITE) -> Outcome:
    """The check's result for a response of S3, or for the status of a refusal."""
    s3, sts = boto3.client("s3"), boto3.client("sts")
    settings: Any = SimpleNamespace(storage_phase=phase, webhook_bucket="acme-webhooks", runner_config_bucket=CREATE)
    with Stubber(s3) as stubbed, Stubber(sts) as caller:
        caller.add_response("get_caller_identity", {"Account": ACCOUNT})
        if isinstance(response, int):
            stubbed.add_client_error("head_bucket", str(response), http_status_code=response, expected_params=WANTED)
        else:
            stubbed.add_response("head_bucket", response, WANTED)
        session = SimpleNamespace(client={"s3": s3, "sts": sts}.__getitem__, region_name="us-east-1")
        return buckets.buckets(session, settings)


def test_a_bucket_in_this_account_and_region_is_fine() -> None:
    assert checked({"BucketRegion": "us-east-1"}) == Ok("acme-webhooks")


@pytest.mark.parametrize(
    ("response", "found"),
    [
        (404, "the bucket acme-webhooks doesn't exist"),
        (403, f"isn't readable, or isn't in account {ACCOUNT}"),
        ({"BucketRegion": "eu-west-1"}, "is in eu-west-1"),
    ],
)
def test_a_bucket_that_is_missing_or_elsewhere_is_a_problem(response: dict[str, Any] | int, found: str) -> None:
    outcome = checked(response)
    assert isinstance(outcome, Problem)
    assert found in outcome.detail
    assert "`webhook_bucket`" in str(outcome)


def test_a_phase_without_buckets_has_nothing_to_check() -> None:
    assert isinstance(checked(404, StoragePhase.DYNAMODB_ONLY), Skipped)
