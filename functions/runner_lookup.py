"""Errands of intake: a job runs on a machine that no launcher told us of; EC2 and ECS know what it is."""

import json
from typing import Any

from runledger import batches, lookups, runner_runtime
from runledger.reports import RunnerLookup

runners, describe, find_price = runner_runtime.runners(), runner_runtime.describe_runner(), runner_runtime.find_price()


def handler(event: dict[str, Any], context: Any) -> Any:
    return batches.each(event, context, _take)


def _take(message: str) -> None:
    lookups.look_up(RunnerLookup(**json.loads(message)), runners, describe, find_price)
