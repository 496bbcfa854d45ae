"""Conditions of IAM policies that several functions use."""

import aws_cdk as cdk

# A bucket's ARN contains only its name: if the bucket was deleted, another account may have created it again.
IN_THIS_ACCOUNT = {"StringEquals": {"aws:ResourceAccount": cdk.Aws.ACCOUNT_ID}}


def only_keys(*patterns: str) -> dict[str, object]:
    """Only items whose partition key matches one of the patterns."""
    return {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": list(patterns)}}
