"""A reference for launchers: writes `runner-config.json` to S3 and presigns it.

Copy it, or import it with boto3's S3 client:

    url = write(boto3.client("s3"), "acme-runners", machine=f"{role_id}:{instance_id}", config={...})

`docs/runner-config.v1.schema.json` describes the config. Errors name the field and never its value.
"""

import json
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from runner.config import BadConfig, parse

VALID_SECONDS = 300
LIFECYCLES = ("on-demand", "spot")
MACHINE = re.compile(r"[\w+=,.@-]+:[\w+=,.@-]+")


def write(
    s3: Any, bucket: str, *, machine: str, config: Mapping[str, object], valid_seconds: int = VALID_SECONDS
) -> str:
    """Returns the URL to read it. Raises BadConfig, and then nothing was written.

    `machine` is its `aws:userid`: the unique id of its role, and its instance or task id.
    """
    check(config)
    if not MACHINE.fullmatch(machine):
        raise BadConfig("machine must be {roleId}:{instanceId}")
    key = f"runners/{machine}/runner-config.json"
    s3.put_object(Bucket=bucket, Key=key, Body=json.dumps(config).encode(), ContentType="application/json")
    url: str = s3.generate_presigned_url("get_object", Params={"Bucket": bucket, "Key": key}, ExpiresIn=valid_seconds)
    return url


def check(config: Mapping[str, object]) -> None:
    """As the entrypoint checks it, and the fields that only agents and Runledger read."""
    parse(json.dumps(config))
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


def _check_time(value: object) -> None:
    try:
        moment = datetime.fromisoformat(str(value).replace("Z", "+00:00"))
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise BadConfig("scheduled_at must be a time with a zone, such as 2025-01-15T10:00:00Z")
