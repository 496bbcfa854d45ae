"""A batch ends before its function's time does, and what was not started goes back to the queue."""

from types import SimpleNamespace
from typing import Any

import pytest
from runledger.platform import batches, logs, retries


class Clock:
    """The context of a function; `left` is its remaining time in seconds."""

    def __init__(self, left: float) -> None:
        self.left = left

    def get_remaining_time_in_millis(self) -> int:
        return round(self.left * 1000)


def event(*bodies: str) -> dict[str, Any]:
    return {"Records": [{"messageId": each, "body": each, "eventSource": "aws:sqs"} for each in bodies]}


def returned(response: Any) -> list[str]:
    return [each["itemIdentifier"] for each in response["batchItemFailures"]]


@pytest.fixture
def failed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """What is counted as failed."""
    counted: list[int] = []
    monkeypatch.setattr(logs, "messages_failed", counted.append)
    monkeypatch.setattr(
        logs,
        "logger",
        SimpleNamespace(**dict.fromkeys(("warning", "exception", "set_correlation_id"), lambda *_, **__: None)),
    )
    return counted


def test_messages_that_cannot_finish_in_time_are_not_started(failed: list[int]) -> None:
    clock, taken = Clock(60), []

    def take(body: str) -> None:
        taken.append(body)
        clock.left -= 21

    response = batches.each(event("a", "b", "c", "d"), clock, take)
    assert taken == ["a", "b"]
    assert returned(response) == ["c", "d"]
    assert failed == []  # they were not tried


def test_the_first_message_is_always_started(failed: list[int]) -> None:
    taken: list[str] = []
    assert returned(batches.each(event("a", "b"), Clock(1), taken.append)) == ["b"]
    assert taken == ["a"]
    assert failed == []


def test_only_messages_that_were_tried_count_as_failed(failed: list[int]) -> None:
    clock = Clock(60)

    def take(_body: str) -> None:
        clock.left -= 45
        raise ValueError

    assert returned(batches.each(event("a", "b", "c"), clock, take)) == ["a", "b", "c"]
    assert failed == [1]


def test_a_message_that_was_delivered_before_is_a_retry() -> None:
    seen: dict[str, bool] = {}

    def take(body: str) -> None:
        seen[body] = retries.is_retry()

    messages = event("a", "b", "c")
    messages["Records"][0]["attributes"] = {"ApproximateReceiveCount": "1"}
    messages["Records"][1]["attributes"] = {"ApproximateReceiveCount": "2"}
    batches.each(messages, Clock(60), take)
    assert seen == {"a": False, "b": True, "c": False}
    assert not retries.is_retry()
