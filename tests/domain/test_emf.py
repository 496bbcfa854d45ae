"""Log lines in CloudWatch's embedded metric format."""

import json
import time
from typing import Any

import pytest
from runledger.model import times
from runledger.platform import emf

UNITS = {"Count", "Milliseconds", "Seconds", "Percent", "None"}  # some of CloudWatch's units


def written(capsys: pytest.CaptureFixture[str], *args: Any, **kwargs: Any) -> dict[str, Any]:
    emf.write(*args, **kwargs)
    (line,) = capsys.readouterr().out.splitlines()
    record: dict[str, Any] = json.loads(line)
    return record


def test_each_metric_is_a_number_of_the_line_with_its_unit(capsys: pytest.CaptureFixture[str]) -> None:
    line = written(capsys, {"JobsCompleted": 1, "QueueTime": 1500}, about={"message": "job event", "job_id": 7})
    (directive,) = line["_aws"]["CloudWatchMetrics"]
    assert directive["Metrics"] == [
        {"Name": "JobsCompleted", "Unit": "Count"},
        {"Name": "QueueTime", "Unit": "Milliseconds"},
    ]
    assert (line["JobsCompleted"], line["QueueTime"]) == (1, 1500)
    assert (line["level"], line["message"], line["job_id"]) == ("INFO", "job event", 7)


def test_properties_of_a_line_are_not_dimensions(capsys: pytest.CaptureFixture[str]) -> None:
    line = written(capsys, {"StuckJobs": 2}, about={"id": "a pass"}, dimensions={"kind": "queued"})
    (directive,) = line["_aws"]["CloudWatchMetrics"]
    assert directive["Dimensions"] == [["service", "stage", "kind"]]
    assert (directive["Namespace"], line["service"], line["kind"]) == ("Runledger", "runledger", "queued")


def test_cloudwatch_and_readers_get_the_same_time(capsys: pytest.CaptureFixture[str]) -> None:
    before = time.time_ns() // 1_000_000
    line = written(capsys, {"JobsQueued": 1}, about={})
    assert before <= line["_aws"]["Timestamp"] <= time.time_ns() // 1_000_000
    assert line["timestamp"] == times.from_epoch_ms(line["_aws"]["Timestamp"])


def test_every_unit_is_one_of_cloudwatchs() -> None:
    assert set(emf.UNITS.values()) == UNITS
