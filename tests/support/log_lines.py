"""Log lines of the functions, and the metrics in them."""

import json
from typing import Any

import pytest

Line = dict[str, Any]


def lines(text: str) -> list[Line]:
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def written(capsys: pytest.CaptureFixture[str]) -> list[Line]:
    """The lines since the last call. These have metrics; the logger writes all others to the fixture `log`."""
    return lines(capsys.readouterr().out)


def metrics(logged: list[Line]) -> dict[str, float]:
    found: dict[str, float] = {}
    for line in logged:
        for directive in line.get("_aws", {}).get("CloudWatchMetrics", []):
            assert directive["Dimensions"] == [["service", "stage"]]
            found |= {metric["Name"]: line[metric["Name"]] for metric in directive["Metrics"]}
    return found
