"""Records of a stream are processed in order, up to the first one that has to be repeated."""

import json
from contextlib import suppress
from typing import Any

import pytest
from runledger.platform import stream_batches
from runledger.platform.stream_batches import Record


class Batch:
    """Three records. `failures` maps the number of a record to its error."""

    def __init__(self, **failures: Exception) -> None:
        self.failures = failures
        self.processed: list[str] = []
        self.discarded: list[str] = []
        self.discard_error: Exception | None = None

    def run(self, **options: Any) -> str | None:
        """The record from which Lambda repeats the batch."""
        response = stream_batches.each(
            [{"eventID": name, "dynamodb": {"SequenceNumber": name}} for name in ("first", "second", "third")],
            self._process,
            discard=self._discard,
            may_succeed_later=lambda error: isinstance(error, ConnectionError),
            **options,
        )
        failed = [each["itemIdentifier"] for each in response["batchItemFailures"]]
        assert len(failed) <= 1
        return failed[0] if failed else None

    def _process(self, record: Record) -> None:
        if error := self.failures.get(record["eventID"]):
            raise error
        self.processed.append(record["eventID"])

    def _discard(self, record: Record) -> None:
        if self.discard_error:
            raise self.discard_error
        self.discarded.append(record["eventID"])


def test_all_records_are_processed_in_order() -> None:
    batch = Batch()
    assert batch.run() is None
    assert batch.processed == ["first", "second", "third"]


def test_nothing_after_a_record_that_may_succeed_later_is_started() -> None:
    batch = Batch(second=ConnectionError())
    assert batch.run() == "second"
    assert (batch.processed, batch.discarded) == (["first"], [])


def test_a_record_that_would_fail_each_time_is_discarded_and_the_others_go_on() -> None:
    batch = Batch(second=ValueError())
    assert batch.run() is None
    assert (batch.processed, batch.discarded) == (["first", "third"], ["second"])


@pytest.mark.parametrize("discard_error", [None, KeyError(), ConnectionError()])
def test_a_record_that_would_fail_each_time_is_counted_once_even_if_it_cant_be_discarded(
    discard_error: Exception | None, capsys: pytest.CaptureFixture[str]
) -> None:
    batch = Batch(second=ValueError())
    batch.discard_error = discard_error
    with suppress(KeyError):
        batch.run()
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines() if "MessagesFailed" in line]
    assert [line["MessagesFailed"] for line in lines] == [1]


def test_a_record_that_cant_be_discarded_now_is_repeated() -> None:
    batch = Batch(second=ValueError())
    batch.discard_error = ConnectionError()
    assert batch.run() == "second"


def test_an_unexpected_error_of_discarding_fails_the_function() -> None:
    batch = Batch(second=ValueError())
    batch.discard_error = KeyError()
    with pytest.raises(KeyError):
        batch.run()


def test_without_time_only_the_first_record_is_started() -> None:
    batch = Batch()
    assert batch.run(has_time=lambda: False) == "second"
    assert batch.processed == ["first"]
