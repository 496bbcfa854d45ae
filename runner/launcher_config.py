"""A reference implementation for launchers: writes `runner-config.json` to S3 and presigns its URL.

Copy it, or import it with boto3's S3 client:

    s3 = boto3.client("s3", config=Config(signature_version="s3v4", s3={"addressing_style": "virtual"}))
    url = write(s3, "acme-runners", machine=f"{role_id}:{instance_id}", config={...})

In some regions, boto3 presigns with signature version 2 by default, which S3 rejects for buckets created since June
2020 and for objects that are encrypted with a KMS key. The addressing style puts the bucket's region into the URL:
without it, a new bucket redirects the request, and the signature is invalid there. A URL expires with the credentials
that signed it.

`docs/runner-config.v1.schema.json` describes the config. Errors name the field and never its value.
"""

import json
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from urllib.parse import parse_qs, urlsplit

from runner.config import BadConfig, parse

VALID_SECONDS = 300
LONGEST_VALID_SECONDS = 900
GLOBAL, GLOBAL_REGION = ".s3.amazonaws.com", "us-east-1"
LIFECYCLES = ("on-demand", "spot")
MACHINE = re.compile(r"[\w+=,.@-]+:[\w+=,.@-]+")


def write(
    s3: Any, bucket: str, *, machine: str, config: Mapping[str, object], valid_seconds: int = VALID_SECONDS
) -> str:
    """Returns the URL for reading the config. If it raises BadConfig, nothing was written.

    `machine` is the machine's `aws:userid`: the unique id of its role, and its instance or task id.
    """
    check(config)
    if not MACHINE.fullmatch(machine):
        raise BadConfig("machine must be {roleId}:{instanceId}")
    key = f"runners/{machine}/runner-config.json"
    if not 1 <= valid_seconds <= LONGEST_VALID_SECONDS:
        raise BadConfig(f"valid_seconds must be from 1 to {LONGEST_VALID_SECONDS}")
    url: str = s3.generate_presigned_url("get_object", Params={"Bucket": bucket, "Key": key}, ExpiresIn=valid_seconds)
    _check_url(url)
    s3.put_object(Bucket=bucket, Key=key, Body=json.dumps(config).encode(), ContentType="application/json")
    return url


def check(config: Mapping[str, object]) -> None:
    """Checks what the entrypoint checks, and the fields that only agents and Runledger read."""
    parse(json.dumps(config))
    if config.get("remove_token") is not None:
        raise BadConfig("remove_token can remove every runner, and jobs on EC2 can read this config: use remove_url")
    keys = config.get("ssh_keys", [])
    if not isinstance(keys, list) or not all(isinstance(key, str) and key for key in keys):
        raise BadConfig("ssh_keys must be a list of non-empty strings")
    tags = config.get("tags", {})
    if not isinstance(tags, dict) or not all(isinstance(value, str) for value in tags.values()):
        raise BadConfig("tags must be an object of strings")
    for name in ("instance_type", "pool_name"):
        if name in config and not (isinstance(config[name], str) and config[name]):
            raise BadConfig(f"{name} must be a non-empty string")
    if config.get("instance_lifecycle", LIFECYCLES[0]) not in LIFECYCLES:
        raise BadConfig(f"instance_lifecycle must be one of {', '.join(LIFECYCLES)}")
    if "scheduled_at" in config:
        _check_time(config["scheduled_at"])


def _check_url(url: str) -> None:
    """The entrypoint follows no redirects, so the URL must contain the bucket's region."""
    parts = urlsplit(url)
    query = parse_qs(parts.query)
    if query.get("X-Amz-Algorithm") != ["AWS4-HMAC-SHA256"]:
        raise BadConfig("the S3 client must sign with version 4: create it with Config(signature_version='s3v4')")
    region = query["X-Amz-Credential"][0].split("/")[-3]
    if (parts.hostname or "").endswith(GLOBAL) and region != GLOBAL_REGION:
        raise BadConfig("the S3 client must name the region: create it with Config(s3={'addressing_style': 'virtual'})")


def _check_time(value: object) -> None:
    try:
        moment = datetime.fromisoformat(str(value).replace("Z", "+00:00"))
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise BadConfig("scheduled_at must be a time with a zone, such as 2025-01-15T10:00:00Z")
