"""The commands of docs/runbook.md that move events which EventBridge could not deliver, as they stand there.

`StartMessageMoveTask` accepts only dead letters of another SQS queue, and the emulator has no such rule.
"""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import boto3
import pytest

from local.aws import emulator
from tests.complete.test_first_deployment import commands
from tests.support.documents import section

SECTION = section("runbook.md", "A dead-letter queue is not empty")
EVENT = '{"source": "aws.ec2", "detail": {"instance-id": "i-0abc1234def567890", "state": "terminated"}}'

pytestmark = [
    pytest.mark.server,
    pytest.mark.skipif(not shutil.which("aws"), reason="the document uses the aws command, which is not installed"),
]


def test_undelivered_events_reach_the_queue_that_they_were_meant_for(tmp_path: Path) -> None:
    _, _, undelivered = SECTION.partition("### Events that EventBridge couldn't deliver")
    assert "start-message-move-task" not in undelivered
    with emulator.running(tmp_path) as url:
        sqs: Any = boto3.client("sqs", endpoint_url=url)
        dead, waiting = (sqs.create_queue(QueueName=name)["QueueUrl"] for name in ("rules-dead-letters", "states"))
        target = {"DataType": "String", "StringValue": "arn:aws:sqs:us-east-1:000000000000:states"}
        for _ in range(2):
            sqs.send_message(QueueUrl=dead, MessageBody=EVENT, MessageAttributes={"TARGET_ARN": target})
        guide = "\n".join(commands(undelivered)).replace("<URL of RulesDeadLetters>", dead)
        # The second time nothing is left.
        outputs = [run(guide, url), run(guide, url)]
        assert [bool(each) for each in outputs] == [True, False]
        moved = sqs.receive_message(QueueUrl=waiting, MaxNumberOfMessages=10)["Messages"]
        assert [each["Body"] for each in moved] == [EVENT, EVENT]
        assert "Messages" not in sqs.receive_message(QueueUrl=dead)
        sqs.close()


def run(guide: str, url: str) -> str:
    """Version 1 of the aws command reads no other variable for the region, and none for the address of SQS."""
    guide = guide.replace("aws sqs ", f"aws --endpoint-url {url} sqs ")
    where = {"AWS_DEFAULT_REGION": emulator.REGION, **emulator.CREDENTIALS}
    shell = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    ran = subprocess.run(
        ["bash", "-c", f"set -e -o pipefail\n{guide}"], env=shell | where, capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout
