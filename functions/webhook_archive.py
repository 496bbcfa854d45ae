"""CloudFormation custom resource of the storage phase `cleanup`: adds the lifecycle rule that moves old webhooks to
Glacier, and removes it again.
"""

import json
from typing import Any
from urllib.request import Request, urlopen

from runledger.migration import archive
from runledger.platform import logs
from runledger.platform.clients import slow_client

LONGEST_REASON = 500
RESPONSE_SECONDS = 10
S3_SECONDS = 10


def handler(event: dict[str, Any], context: Any) -> None:
    """CloudFormation sends Create and Update with the phase, and Delete when the phase ends or the bucket changes."""
    properties = event["ResourceProperties"]
    bucket, rule = properties.get("Bucket"), properties.get("Rule")
    failure = None
    try:
        s3 = slow_client("s3", read_seconds=S3_SECONDS, attempts=2)
        if event["RequestType"] == "Delete":
            archive.remove_rule(s3, bucket, rule)
        else:
            archive.add_rule(s3, bucket, rule, properties["Prefix"])
    except Exception as error:  # without a response, CloudFormation waits for an hour
        logs.logger.exception("lifecycle rule not changed")
        failure = f"The lifecycle of the bucket {bucket} was not changed: {error}"[:LONGEST_REASON]
    _respond(event, physical_id=f"{bucket}/{rule}", failure=failure, log_stream=context.log_stream_name)


def _respond(event: dict[str, Any], *, physical_id: str, failure: str | None, log_stream: str) -> None:
    response = {
        "Status": "FAILED" if failure else "SUCCESS",
        "Reason": failure or f"See the log stream {log_stream}",
        "PhysicalResourceId": physical_id,
        **{name: event[name] for name in ("StackId", "RequestId", "LogicalResourceId")},
    }
    # The URL is presigned for a request without a content type.
    request = Request(  # noqa: S310 - from CloudFormation
        event["ResponseURL"], data=json.dumps(response).encode(), method="PUT", headers={"Content-Type": ""}
    )
    with urlopen(request, timeout=RESPONSE_SECONDS):  # noqa: S310 - as above
        pass
