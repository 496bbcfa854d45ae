"""Clients of the emulated AWS."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import boto3

from local.aws.emulator import CREDENTIALS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from local.aws.outputs import Outputs


def client(outputs: Outputs, service: Any) -> Any:
    return boto3.client(
        service,
        endpoint_url=outputs.endpoint_url,
        region_name=outputs.region,
        aws_access_key_id=CREDENTIALS["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=CREDENTIALS["AWS_SECRET_ACCESS_KEY"],
    )


def start_instance(outputs: Outputs, *, instance_type: str, tags: Mapping[str, str]) -> str:
    """Return the id of the instance. The emulator only records it; nothing runs."""
    with closing(client(outputs, "ec2")) as ec2:
        started = ec2.run_instances(
            ImageId="ami-00000000",
            InstanceType=instance_type,
            MinCount=1,
            MaxCount=1,
            TagSpecifications=[
                {"ResourceType": "instance", "Tags": [{"Key": name, "Value": value} for name, value in tags.items()]}
            ],
        )
    return str(started["Instances"][0]["InstanceId"])
