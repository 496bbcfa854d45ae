"""Clients are cheap to make and to call, and garbage is still collected afterwards."""

import gc
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from botocore.awsrequest import AWSRequest, AWSResponse
from botocore.exceptions import UnknownServiceError
from runledger.platform import clients

from bench.canned_responses import json_response


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    clients.client.cache_clear()
    yield
    clients.client.cache_clear()
    gc.unfreeze()


def sent(**call: Any) -> AWSRequest:
    """The request that is on its way to AWS, which never gets there."""
    requests = []

    def stop(request: AWSRequest, **_: Any) -> AWSResponse:
        requests.append(request)
        return json_response({})

    client = clients.client("dynamodb", "us-east-1")
    client.meta.events.register("before-send.dynamodb", stop)
    client.get_item(**call)
    (request,) = requests
    return request


def test_calls_to_aws_name_the_caller() -> None:
    """Powertools adds its own name, once it is loaded."""
    assert sent(TableName="jobs", Key={"PK": {"S": "1"}}).headers["User-Agent"].split()[0] == b"runledger"


def test_parameters_are_validated_by_aws_alone() -> None:
    """A request that names no table: it is sent, and refused there."""
    assert json.loads(sent(Key={"PK": {"S": "1"}}).body) == {"Key": {"PK": {"S": "1"}}}


def test_frozen_objects_are_not_scanned_again_and_garbage_still_is() -> None:
    before = gc.get_freeze_count()
    clients.client("dynamodb", "us-east-1")
    assert gc.get_freeze_count() > before
    assert gc.isenabled()


def test_a_client_that_cannot_be_made_leaves_garbage_collected() -> None:
    with pytest.raises(UnknownServiceError):
        clients.client("dynamo", "us-east-1")
    assert gc.isenabled()


def test_the_same_client_is_given_again() -> None:
    assert clients.client("dynamodb", "us-east-1") is clients.client("dynamodb", "us-east-1")


def test_a_client_that_is_used_rarely_is_made_when_it_is() -> None:
    queues = clients.lazy_client("sqs", "us-east-1")
    assert clients.client.cache_info().currsize == 0
    assert queues.meta is clients.client("sqs", "us-east-1").meta


@pytest.mark.parametrize(("service", "seconds"), [("dynamodb", 2), ("sqs", 2), ("ec2", 5), ("ecs", 5), ("pricing", 5)])
def test_a_call_that_a_webhook_waits_for_fails_early_and_a_lookup_may_take_longer(service: str, seconds: int) -> None:
    assert clients.client(service, "us-east-1").meta.config.read_timeout == seconds


def test_a_client_opens_only_the_data_of_its_own_service(monkeypatch: pytest.MonkeyPatch) -> None:
    listed: list[str] = []
    list_folder = os.listdir

    def record(path: str) -> list[str]:
        listed.append(Path(path).name)
        return list_folder(path)

    monkeypatch.setattr(os, "listdir", record)
    clients.session.__wrapped__().create_client("dynamodb", region_name="eu-west-1")
    assert set(listed) == {"data", "dynamodb"}


def test_a_service_that_botocore_does_not_have_is_an_error() -> None:
    with pytest.raises(UnknownServiceError):
        clients.session.__wrapped__().create_client("dynamo", region_name="eu-west-1")
