"""Reads the streams of workflow_runs and deployments, and updates the heads of branches and environments."""

from typing import Any

from runledger.wiring import releases

stream = releases.stream()


def handler(event: dict[str, Any], _context: Any) -> Any:
    return stream.process(event["Records"])
