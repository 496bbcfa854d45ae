"""Sources of webhooks with objects and files that someone prepared to stop or to stall an import."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto import mock_aws
from runledger.migration.key_pattern import DEFAULT, KeyPattern
from runledger.migration.objects import LARGEST_BODY, Selection
from runledger.migration.stored import BucketSource, FolderSource, OtherKey, Source
from runledger.migration.webhook_groups import Handled, JobWebhooks, grouped, read
from runledger.model import times

from tests.support.beds import KEEP_SESSION
from tests.support.webhooks import INSTALLATION, JOB, QUEUED, payload

PATTERN = KeyPattern.parse(DEFAULT)
ANY = Selection(host="github.com", installations={})
KEY = f"webhooks/{INSTALLATION}/{JOB}/queued.json"
OTHER = f"webhooks/{INSTALLATION}/{JOB}/waiting.json"
BODY = json.dumps(payload(QUEUED)).encode()
BUCKET = "acme-runners"


@pytest.fixture
def s3() -> Iterator[Any]:
    with mock_aws(config=KEEP_SESSION):
        client = boto3.client("s3", region_name="us-east-1")
        client.create_bucket(Bucket=BUCKET)
        yield client


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / KEY).parent.mkdir(parents=True)
    (tmp_path / KEY).write_bytes(BODY)
    return tmp_path


def all_read(source: Source) -> list[JobWebhooks]:
    return [job for group in grouped(source.listed(PATTERN)) for job in read(group, source, ANY)]


def total(source: Source, name: str) -> int:
    return sum(job.counts[name] for job in all_read(source))


def receipts(source: Source) -> list[Any]:
    return [receipt for job in all_read(source) for receipt in job.receipts]


@pytest.mark.parametrize(
    "create",
    [
        lambda file: file.symlink_to("/nonexistent"),
        lambda file: file.symlink_to(file),
        lambda file: file.symlink_to("/etc/passwd"),
        os.mkfifo,
    ],
    ids=["broken link", "loop", "link", "pipe"],
)
def test_a_file_that_is_no_regular_file_is_no_webhook(folder: Path, create: Callable[[Path], None]) -> None:
    create(folder / OTHER)
    source = FolderSource(folder)
    assert isinstance(list(source.listed(PATTERN))[1], OtherKey)
    assert (total(source, Handled.OTHER_KEYS), len(receipts(source))) == (1, 1)


def test_a_name_that_is_no_text_is_no_webhook(folder: Path) -> None:
    pattern = KeyPattern.parse("webhooks/{installation_id}/{job_id}/{delivery_id}")
    Path(os.fsdecode(os.fsencode(folder / KEY) + b"\xff")).write_bytes(BODY)
    assert sum(isinstance(each, OtherKey) for each in FolderSource(folder).listed(pattern)) == 1


def test_a_file_that_cannot_be_read_is_unreadable(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", denied)
    assert total(FolderSource(folder), Handled.UNREADABLE) == 1


@pytest.mark.parametrize("modified", [1e12, -1e11])
def test_the_time_of_a_file_is_between_1970_and_now(folder: Path, modified: float) -> None:
    os.utime(folder / KEY, (modified, modified))
    (stored,) = FolderSource(folder).listed(PATTERN)
    assert not isinstance(stored, OtherKey)
    assert "1970-01-01T00:00:00.000Z" <= stored.modified_at < "2100"


def test_an_object_that_was_replaced_by_a_large_one_is_not_read(s3: Any) -> None:
    s3.put_object(Bucket=BUCKET, Key=KEY, Body=BODY)
    source = BucketSource(s3, BUCKET)
    (group,) = grouped(source.listed(PATTERN))
    s3.put_object(Bucket=BUCKET, Key=KEY, Body=bytes(LARGEST_BODY + 1))
    (whole,) = read(group, source, ANY)
    assert whole.unreadable == [(KEY, "body has 1,000,001 bytes; the limit is 1,000,000")]


def test_a_time_of_receipt_in_the_future_is_that_of_the_object(s3: Any) -> None:
    """The job would never expire."""
    future = {"received-at": "9999-12-31T00%3A00%3A00Z", "delivery-id": "a-guid"}
    s3.put_object(Bucket=BUCKET, Key=KEY, Body=BODY, Metadata=future)
    source = BucketSource(s3, BUCKET)
    (stored,) = source.listed(PATTERN)
    (receipt,) = receipts(source)
    assert not isinstance(stored, OtherKey)
    assert (receipt.received_at, receipt.delivery_id) == (stored.modified_at, "a-guid")


def test_a_time_of_receipt_may_be_a_little_after_that_of_the_object(s3: Any) -> None:
    """S3 has whole seconds, and a clock of its own: the history has the time of live intake."""
    s3.put_object(Bucket=BUCKET, Key=KEY, Body=BODY)
    source = BucketSource(s3, BUCKET)
    (stored,) = source.listed(PATTERN)
    assert not isinstance(stored, OtherKey)
    received_at = stored.modified_at.replace(".000Z", ".900Z")
    s3.put_object(Bucket=BUCKET, Key=KEY, Body=BODY, Metadata={"received-at": received_at})
    (receipt,) = receipts(source)
    assert times.ms_between(received_at, receipt.received_at) == 0
