"""Batches of items: what DynamoDB leaves unprocessed is read again, and not at once."""

from typing import Any

import pytest
from botocore.exceptions import ClientError
from runledger.model.errors import UnavailableError
from runledger.platform.availability import translate_errors
from runledger.tables.table import PAUSES, Table


class Throttled:
    """DynamoDB that leaves a key unprocessed so many times."""

    def __init__(self, times_left: int) -> None:
        self.left = times_left

    def batch_get_item(self, *, RequestItems: dict[str, Any]) -> dict[str, Any]:  # noqa: N803
        ((table, wanted),) = RequestItems.items()
        self.left -= 1
        if self.left >= 0:
            return {"Responses": {table: []}, "UnprocessedKeys": {table: wanted}}
        return {"Responses": {table: [{"PK": {"S": "a"}, "SK": {"S": "v"}}]}, "UnprocessedKeys": {}}


def read(client: Any, pauses: list[float]) -> Any:
    return Table(client, "runners").by_key([("a", "v")], pause=pauses.append)


def test_unprocessed_keys_are_read_again_after_growing_pauses() -> None:
    pauses: list[float] = []
    assert read(Throttled(3), pauses).keys() == {("a", "v")}
    assert len(pauses) == 3
    assert all(most / 2 <= pause <= most for pause, most in zip(pauses, PAUSES, strict=False))


def test_keys_that_stay_unprocessed_are_a_transient_error() -> None:
    with pytest.raises(UnavailableError, match="unprocessed"):
        read(Throttled(100), [])


@pytest.mark.parametrize("code", ["TooManyRequestsException", "ThrottlingException", "RequestLimitExceeded"])
def test_throttling_is_a_transient_error_whatever_a_service_calls_it(code: str) -> None:
    """`TooManyRequestsException` is Lambda's word for it."""
    with pytest.raises(UnavailableError, match=code), translate_errors("a service"):
        raise ClientError({"Error": {"Code": code, "Message": "slow down"}}, "Invoke")
