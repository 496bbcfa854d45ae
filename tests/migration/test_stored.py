"""Objects as S3 lists them: which can be read now, and which must be restored first."""

import io
from datetime import UTC, datetime
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from botocore.response import StreamingBody
from botocore.stub import Stubber
from moto import mock_aws
from runledger.migration import key_pattern, webhook_groups
from runledger.migration.key_pattern import KeyPattern
from runledger.migration.objects import Selection, StoredWebhook
from runledger.migration.stored import REFUSED_AT_FIRST, BucketSource
from runledger.migration.webhook_groups import Group
from runledger.model.errors import Malformed

from tests.support.beds import KEEP_SESSION

BUCKET = "acme-runners"
MOMENT = datetime(2025, 1, 15, tzinfo=UTC)


@pytest.mark.parametrize(
    ("listed", "archived"),
    [
        ({"StorageClass": "STANDARD"}, False),
        ({"StorageClass": "GLACIER_IR"}, False),
        ({"StorageClass": "GLACIER"}, True),
        ({"StorageClass": "GLACIER", "RestoreStatus": {"IsRestoreInProgress": True}}, True),
        (
            {"StorageClass": "GLACIER", "RestoreStatus": {"IsRestoreInProgress": False, "RestoreExpiryDate": MOMENT}},
            False,
        ),
    ],
)
def test_a_restored_object_can_be_read_although_its_storage_class_stays(listed: dict[str, Any], archived: bool) -> None:
    client = boto3.client("s3")
    found = {"Key": "webhooks/1/2/queued.json", "Size": 1, "LastModified": MOMENT, **listed}
    with Stubber(client) as s3:
        s3.add_response(
            "list_objects_v2",
            {"Contents": [found], "IsTruncated": False},
            {"Bucket": BUCKET, "Prefix": "webhooks/", "OptionalObjectAttributes": ["RestoreStatus"]},
        )
        (stored,) = BucketSource(client, BUCKET).listed(KeyPattern.parse(key_pattern.DEFAULT))
    assert isinstance(stored, StoredWebhook)
    assert stored.archived is archived


def test_an_archived_object_that_its_storage_class_does_not_show_is_counted_and_ends_no_import() -> None:
    stored = StoredWebhook(key="webhooks/1/2/queued.json", size=2, modified_at="2025-01-15T10:00:00.000Z")
    with mock_aws(config=KEEP_SESSION):
        s3 = boto3.client("s3")
        s3.create_bucket(Bucket=BUCKET)
        s3.put_object(Bucket=BUCKET, Key=stored.key, Body=b"{}", StorageClass="GLACIER")
        (whole,) = webhook_groups.read(
            Group(listed=[stored]), BucketSource(s3, BUCKET), Selection(host="github.com", installations={})
        )
    assert +whole.counts == {"archived": 1}


def read_all(count: int, *, readable: int = -1) -> list[str]:
    """Reads so many objects, all denied but one. The result of each."""
    client, results = boto3.client("s3"), []
    source = BucketSource(client, BUCKET)
    with Stubber(client) as s3:
        for number in range(count):
            if number == readable:
                found = {"Body": StreamingBody(io.BytesIO(b"{}"), 2), "ContentLength": 2, "Metadata": {}}
                s3.add_response("get_object", found)
            else:
                s3.add_client_error("get_object", "AccessDenied")
        for number in range(count):
            stored = StoredWebhook(key=f"{number}.json", size=2, modified_at="2025-01-15T10:00:00.000Z")
            try:
                results.append("read" if source.read(stored) else "gone")
            except Malformed:
                results.append("unreadable")
    return results


def test_an_object_that_may_not_be_read_is_unreadable_and_ends_no_import() -> None:
    assert read_all(20, readable=0) == ["read", *["unreadable"] * 19]


def test_if_the_first_objects_may_not_be_read_the_import_ends() -> None:
    assert set(read_all(REFUSED_AT_FIRST)) == {"unreadable"}
    with pytest.raises(ClientError, match="AccessDenied"):
        read_all(REFUSED_AT_FIRST + 1)
