"""The lifecycle rule of the phase `cleanup`: webhooks in S3 move to Glacier. Other rules of the bucket are kept."""

from collections.abc import Mapping, Sequence
from typing import Any

from botocore.exceptions import ClientError

ARCHIVE_AFTER_DAYS = 90
NO_RULES = "NoSuchLifecycleConfiguration"
NO_BUCKET = "NoSuchBucket"
# Of all rules of a bucket. If a write leaves it out, S3 sets it to 128 KB.
SMALLEST = "TransitionDefaultMinimumObjectSize"

Rule = dict[str, Any]


def rule_id(deployment: str) -> str:
    """Of its own for each deployment, because two stages, or two regions, may archive webhooks of one bucket."""
    return f"{deployment}-archive-webhooks"


def add_rule(client: Any, bucket: str, rule_id: str, prefix: str) -> None:
    rule: Rule = {
        "ID": rule_id,
        "Status": "Enabled",
        # By default, S3 moves no object of less than 128 KB, and nearly all webhooks are smaller. A size in the filter
        # replaces that default for this rule alone.
        "Filter": {"And": {"Prefix": prefix, "ObjectSizeGreaterThan": 0}},
        "Transitions": [{"Days": ARCHIVE_AFTER_DAYS, "StorageClass": "GLACIER"}],
    }
    others, options = _others(client, bucket, rule_id)
    _store(client, bucket, [*others, rule], options)


def remove_rule(client: Any, bucket: str, rule_id: str) -> None:
    """Does nothing if the bucket is gone: the phase must not keep a stack from being deleted."""
    try:
        others, options = _others(client, bucket, rule_id)
        if others:
            _store(client, bucket, others, options)
        else:
            client.delete_bucket_lifecycle(Bucket=bucket)
    except ClientError as error:
        if error.response["Error"]["Code"] != NO_BUCKET:
            raise


def _others(client: Any, bucket: str, rule_id: str) -> tuple[list[Rule], dict[str, str]]:
    """S3 stores all rules of a bucket as one document: the others, and what holds for all, are part of each write."""
    try:
        found = client.get_bucket_lifecycle_configuration(Bucket=bucket)
    except ClientError as error:
        if error.response["Error"]["Code"] != NO_RULES:
            raise
        return [], {}
    options = {SMALLEST: found[SMALLEST]} if SMALLEST in found else {}
    return [_with_filter(rule) for rule in found.get("Rules", []) if rule.get("ID") != rule_id], options


def _with_filter(rule: Rule) -> Rule:
    """S3 rejects a document in which one rule has a filter and another has the prefix of the first version of rules."""
    if "Filter" in rule or "Prefix" not in rule:
        return dict(rule)
    return {name: value for name, value in rule.items() if name != "Prefix"} | {"Filter": {"Prefix": rule["Prefix"]}}


def _store(client: Any, bucket: str, rules: Sequence[Rule], options: Mapping[str, str]) -> None:
    client.put_bucket_lifecycle_configuration(Bucket=bucket, LifecycleConfiguration={"Rules": list(rules)}, **options)
