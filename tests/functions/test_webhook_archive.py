"""The phase `cleanup`: CloudFormation adds a lifecycle rule to the bucket, and removes it with the phase."""

import importlib
import io
import json
from types import SimpleNamespace
from typing import Any
from urllib.request import Request

import pytest
from botocore.exceptions import ClientError
from runledger.migration import archive

from tests.functions.conftest import BUCKET

webhook_archive = importlib.import_module("webhook_archive")
RULE, RULE_OF_STAGING = (archive.rule_id(f"runledger-{stage}-us-east-1") for stage in ("prod", "staging"))


@pytest.fixture
def responses(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What CloudFormation is sent."""
    found: list[dict[str, Any]] = []

    def respond(request: Request, *, timeout: float) -> io.BytesIO:
        """Requires a timeout: the function must not wait for CloudFormation until its own time is up."""
        assert isinstance(request.data, bytes)
        assert timeout < 30
        found.append(json.loads(request.data))
        return io.BytesIO()

    monkeypatch.setattr(webhook_archive, "urlopen", respond)
    return found


def change_archive(kind: str, bucket: str = BUCKET, rule: str = RULE) -> None:
    event = {
        "RequestType": kind,
        "ResponseURL": "https://cloudformation.invalid/",
        "StackId": "stack",
        "RequestId": "request",
        "LogicalResourceId": "Rule",
        "ResourceProperties": {"Bucket": bucket, "Rule": rule, "Prefix": "webhooks/"},
    }
    webhook_archive.handler(event, SimpleNamespace(log_stream_name="a-log-stream"))


def rules(s3: Any) -> list[str]:
    return [each["ID"] for each in s3.get_bucket_lifecycle_configuration(Bucket=BUCKET)["Rules"]]


def test_the_archive_rule_comes_and_goes_beside_other_rules(s3: Any, responses: list[dict[str, Any]]) -> None:
    theirs = {"ID": "theirs", "Status": "Enabled", "Filter": {"Prefix": "cache/"}, "Expiration": {"Days": 3}}
    s3.put_bucket_lifecycle_configuration(Bucket=BUCKET, LifecycleConfiguration={"Rules": [theirs]})
    for kind, expected in (
        ("Create", ["theirs", RULE]),
        ("Update", ["theirs", RULE]),
        ("Delete", ["theirs"]),
        ("Delete", ["theirs"]),
    ):
        change_archive(kind)
        assert rules(s3) == expected
    assert {each["Status"] for each in responses} == {"SUCCESS"}
    assert {each["PhysicalResourceId"] for each in responses} == {f"{BUCKET}/{RULE}"}


@pytest.mark.usefixtures("responses")
def test_each_stage_changes_only_its_own_archive_rule_of_a_bucket(s3: Any) -> None:
    change_archive("Create")
    change_archive("Create", rule=RULE_OF_STAGING)
    assert rules(s3) == [RULE, RULE_OF_STAGING]
    change_archive("Delete", rule=RULE_OF_STAGING)
    assert rules(s3) == [RULE]


def test_the_only_archive_rule_of_a_bucket_is_created_and_removed(s3: Any, responses: list[dict[str, Any]]) -> None:
    change_archive("Create")
    (rule,) = s3.get_bucket_lifecycle_configuration(Bucket=BUCKET)["Rules"]
    assert rule["Transitions"] == [{"Days": 90, "StorageClass": "GLACIER"}]
    assert rule["Filter"]["And"]["Prefix"] == "webhooks/"
    change_archive("Delete")
    with pytest.raises(ClientError, match="NoSuchLifecycleConfiguration"):
        s3.get_bucket_lifecycle_configuration(Bucket=BUCKET)
    assert [each["Status"] for each in responses] == ["SUCCESS"] * 2


@pytest.mark.usefixtures("s3")
def test_cloudformation_gets_the_reason_of_a_failure(responses: list[dict[str, Any]]) -> None:
    change_archive("Create", bucket="not-there")
    (response,) = responses
    assert response["Status"] == "FAILED"
    assert response["Reason"].startswith("The lifecycle of the bucket not-there was not changed: ")
    change_archive("Delete", bucket="not-there")
    assert responses[-1]["Status"] == "SUCCESS"


class Lifecycle:
    """The lifecycle of a bucket as S3 keeps it. The emulators drop sizes and the default for small objects."""

    def __init__(self, *rules: dict[str, Any], smallest: str) -> None:
        self.stored: dict[str, Any] = {"Rules": list(rules), archive.SMALLEST: smallest}

    def get_bucket_lifecycle_configuration(self, *, Bucket: str) -> dict[str, Any]:  # noqa: N803
        assert Bucket == BUCKET
        return self.stored

    def put_bucket_lifecycle_configuration(
        self,
        *,
        Bucket: str,  # noqa: N803
        LifecycleConfiguration: dict[str, Any],  # noqa: N803
        TransitionDefaultMinimumObjectSize: str = "all_storage_classes_128K",  # noqa: N803
    ) -> None:
        assert Bucket == BUCKET
        rules = LifecycleConfiguration["Rules"]
        assert len({"Filter" in rule for rule in rules}) == 1, "Filter element can only be used in Lifecycle V2."
        self.stored = {"Rules": rules, archive.SMALLEST: TransitionDefaultMinimumObjectSize}


def test_webhooks_under_128_kb_are_archived_although_s3_leaves_out_such_objects_by_default() -> None:
    lifecycle = Lifecycle(smallest="all_storage_classes_128K")
    archive.add_rule(lifecycle, BUCKET, RULE, "webhooks/")
    (rule,) = lifecycle.stored["Rules"]
    assert rule["Filter"] == {"And": {"Prefix": "webhooks/", "ObjectSizeGreaterThan": 0}}


def test_other_rules_keep_the_default_for_small_objects_that_they_were_written_with() -> None:
    theirs = {"ID": "theirs", "Status": "Enabled", "Filter": {}, "Expiration": {"Days": 3}}
    lifecycle = Lifecycle(theirs, smallest="varies_by_storage_class")
    archive.add_rule(lifecycle, BUCKET, RULE, "webhooks/")
    assert lifecycle.stored[archive.SMALLEST] == "varies_by_storage_class"
    archive.remove_rule(lifecycle, BUCKET, RULE)
    assert lifecycle.stored == {"Rules": [theirs], archive.SMALLEST: "varies_by_storage_class"}


def test_rules_with_the_prefix_of_the_first_version_are_kept_as_rules_with_a_filter() -> None:
    lifecycle = Lifecycle({"ID": "old", "Prefix": "cache/", "Status": "Enabled"}, smallest="varies_by_storage_class")
    archive.add_rule(lifecycle, BUCKET, RULE, "webhooks/")
    assert lifecycle.stored["Rules"][0] == {"ID": "old", "Filter": {"Prefix": "cache/"}, "Status": "Enabled"}
