"""The lifecycle rule of the storage phase `cleanup`, which moves webhooks in S3 to Glacier. Keeps the bucket's other
rules.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from botocore.exceptions import ClientError

ARCHIVE_AFTER_DAYS = 90
NO_RULES = "NoSuchLifecycleConfiguration"
NO_BUCKET = "NoSuchBucket"
# An option for all rules of a bucket. If a write omits it, S3 resets it to 128 KB.
SMALLEST = "TransitionDefaultMinimumObjectSize"

Rule = dict[str, Any]


def rule_id(deployment: str) -> str:
    """Unique to each deployment, because two stages, or two regions, may archive webhooks of one bucket."""
    return f"{deployment}-archive-webhooks"


def add_rule(client: Any, bucket: str, rule_id: str, prefix: str) -> None:
    rule: Rule = {
        "ID": rule_id,
        "Status": "Enabled",
        # By default, S3 doesn't move objects under 128 KB, and nearly all webhooks are smaller. A size in the filter
        # overrides the default for this rule alone.
        "Filter": {"And": {"Prefix": prefix, "ObjectSizeGreaterThan": 0}},
        "Transitions": [{"Days": ARCHIVE_AFTER_DAYS, "StorageClass": "GLACIER"}],
    }
    others, options = _others(client, bucket, rule_id)
    _store(client, bucket, [*others, rule], options)


def remove_rule(client: Any, bucket: str, rule_id: str) -> None:
    """Does nothing if the bucket is gone, so that the stack can still be deleted."""
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
    """The other rules, and the options for all rules. S3 stores them as one document, so every write includes them."""
    try:
        found = client.get_bucket_lifecycle_configuration(Bucket=bucket)
    except ClientError as error:
        if error.response["Error"]["Code"] != NO_RULES:
            raise
        return [], {}
    options = {SMALLEST: found[SMALLEST]} if SMALLEST in found else {}
    return [_with_filter(rule) for rule in found.get("Rules", []) if rule.get("ID") != rule_id], options


def _with_filter(rule: Rule) -> Rule:
    """S3 rejects a document that mixes rules with a filter and rules with the deprecated `Prefix`."""
    if "Filter" in rule or "Prefix" not in rule:
        return dict(rule)
    return {name: value for name, value in rule.items() if name != "Prefix"} | {"Filter": {"Prefix": rule["Prefix"]}}


def _store(client: Any, bucket: str, rules: Sequence[Rule], options: Mapping[str, str]) -> None:
    client.put_bucket_lifecycle_configuration(Bucket=bucket, LifecycleConfiguration={"Rules": list(rules)}, **options)
