"""Errands of intake: a job runs on a machine that no launcher told us of; EC2 and ECS know what it is."""

from typing import Any

from runledger import batches, errands, lookups, runner_runtime

runners, fleet, find_price = runner_runtime.runners(), runner_runtime.fleet(), runner_runtime.find_price()


def handler(event: dict[str, Any], context: Any) -> Any:
    return batches.each(event, context, _take)


def _take(message: str) -> None:
    lookups.look_up(errands.lookup_from(message), runners, fleet.find, find_price)
