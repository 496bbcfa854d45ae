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


@pytest.fixture
def responses(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What CloudFormation is sent."""
    found: list[dict[str, Any]] = []

    def respond(request: Request) -> io.BytesIO:
        assert isinstance(request.data, bytes)
        found.append(json.loads(request.data))
        return io.BytesIO()

    monkeypatch.setattr(webhook_archive, "urlopen", respond)
    return found


def change_archive(kind: str, bucket: str = BUCKET) -> None:
    event = {
        "RequestType": kind,
        "ResponseURL": "https://cloudformation.invalid/",
        "StackId": "stack",
        "RequestId": "request",
        "LogicalResourceId": "Rule",
        "ResourceProperties": {"Bucket": bucket, "Prefix": "webhooks/"},
    }
    webhook_archive.handler(event, SimpleNamespace(log_stream_name="a-log-stream"))


def rules(s3: Any) -> list[str]:
    return [each["ID"] for each in s3.get_bucket_lifecycle_configuration(Bucket=BUCKET)["Rules"]]


def test_the_archive_rule_comes_and_goes_beside_other_rules(s3: Any, responses: list[dict[str, Any]]) -> None:
    theirs = {"ID": "theirs", "Status": "Enabled", "Filter": {"Prefix": "cache/"}, "Expiration": {"Days": 3}}
    s3.put_bucket_lifecycle_configuration(Bucket=BUCKET, LifecycleConfiguration={"Rules": [theirs]})
    for kind, expected in (
        ("Create", ["theirs", archive.RULE]),
        ("Update", ["theirs", archive.RULE]),
        ("Delete", ["theirs"]),
        ("Delete", ["theirs"]),
    ):
        change_archive(kind)
        assert rules(s3) == expected
    assert {each["Status"] for each in responses} == {"SUCCESS"}
    assert {each["PhysicalResourceId"] for each in responses} == {f"{BUCKET}/{archive.RULE}"}


def test_the_archive_rule_of_a_bucket_without_rules(s3: Any, responses: list[dict[str, Any]]) -> None:
    change_archive("Create")
    (rule,) = s3.get_bucket_lifecycle_configuration(Bucket=BUCKET)["Rules"]
    assert rule["Transitions"] == [{"Days": 90, "StorageClass": "GLACIER"}]
    assert rule["Filter"] == {"Prefix": "webhooks/"}
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
