"""The lifecycle rule of the phase `cleanup`: webhooks in S3 move to Glacier. Other rules of the bucket are kept."""

from collections.abc import Sequence
from typing import Any

from botocore.exceptions import ClientError

RULE = "runledger-archive-webhooks"
ARCHIVE_AFTER_DAYS = 90
NO_RULES = "NoSuchLifecycleConfiguration"
NO_BUCKET = "NoSuchBucket"

Rule = dict[str, Any]


def add_rule(client: Any, bucket: str, prefix: str) -> None:
    rule: Rule = {
        "ID": RULE,
        "Status": "Enabled",
        "Filter": {"Prefix": prefix},
        "Transitions": [{"Days": ARCHIVE_AFTER_DAYS, "StorageClass": "GLACIER"}],
    }
    _store(client, bucket, [*_others(client, bucket), rule])


def remove_rule(client: Any, bucket: str) -> None:
    """Does nothing if the bucket is gone: the phase must not keep a stack from being deleted."""
    try:
        others = _others(client, bucket)
        if others:
            _store(client, bucket, others)
        else:
            client.delete_bucket_lifecycle(Bucket=bucket)
    except ClientError as error:
        if error.response["Error"]["Code"] != NO_BUCKET:
            raise


def _others(client: Any, bucket: str) -> list[Rule]:
    """S3 stores all rules of a bucket as one document, so the others are part of each write."""
    try:
        found = client.get_bucket_lifecycle_configuration(Bucket=bucket)
    except ClientError as error:
        if error.response["Error"]["Code"] != NO_RULES:
            raise
        return []
    return [dict(rule) for rule in found.get("Rules", []) if rule.get("ID") != RULE]


def _store(client: Any, bucket: str, rules: Sequence[Rule]) -> None:
    client.put_bucket_lifecycle_configuration(Bucket=bucket, LifecycleConfiguration={"Rules": list(rules)})
