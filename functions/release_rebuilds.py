"""Reads the rebuilds queue, and dispatches the workflows of a release line's dependents, each at most once."""

from typing import Any

from runledger.platform import batches, logs
from runledger.releases import queue
from runledger_github import rebuild_wiring

# Reserved for the last call to GitHub, and for storing its result.
RESERVED_MS = 30_000

rebuild_wiring.rebuilds()  # created before the first message


def handler(event: dict[str, Any], context: Any) -> Any:
    def advance(message: str) -> None:
        line = queue.read_line(message)
        logs.continue_message(message)
        rebuilds = rebuild_wiring.rebuilds()
        rebuilds.advance(line, has_time=lambda: context.get_remaining_time_in_millis() > RESERVED_MS)

    return batches.each(event, context, advance)
