"""Errands of intake: a job runs on a machine that no launcher told us of; EC2 and ECS know what it is."""

from typing import Any

from runledger.platform import batches
from runledger.recording import follow_up
from runledger.runners import lookups
from runledger.wiring import runners as wiring

runners, fleet, find_price = wiring.runners(), wiring.fleet(), wiring.find_price()


def handler(event: dict[str, Any], context: Any) -> Any:
    return batches.each(event, context, _take)


def _take(message: str) -> None:
    lookups.look_up(follow_up.lookup_from(message), runners, fleet.find, find_price)
