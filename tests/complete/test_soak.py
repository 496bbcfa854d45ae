"""Load and faults together, in small: `make soak` plays thousands of jobs on a deployment of its own."""

from contextlib import closing

import pytest

from local.aws import clients as aws
from local.aws.outputs import Outputs
from tests.soak import lives, soak

LIVES, SEED = 60, 1


@pytest.fixture(autouse=True)
def empty_queues(outputs: Outputs) -> None:
    """Other tests leave messages that are rejected on every try: the queues would never be empty."""
    with closing(aws.client(outputs, "sqs")) as sqs:
        for url in sqs.list_queues()["QueueUrls"]:
            sqs.purge_queue(QueueUrl=url)


def test_no_job_is_wrong_and_no_delivery_is_lost_while_dynamodb_fails_in_bursts(outputs: Outputs) -> None:
    result = soak.play(outputs, lives.workload(LIVES, seed=SEED), seed=SEED)
    assert result.violations == []
    assert result.faults > 100
    assert result.deferred > 0
    assert result.healed >= 1
