"""Events of launchers, from the ledger's bus: which machine was started for which job, and how it ended."""

import json
from typing import Any

from runledger.platform import batches, logs
from runledger.wiring import runners

launcher_events = runners.launcher_events()


def handler(event: dict[str, Any], context: Any) -> Any:
    return batches.each_dated(event, context, _record)


def _record(message: str, sent_at: str | None) -> None:
    event = json.loads(message)
    logs.follow(str(event.get("id")))
    launcher_events.record(event, sent_at=sent_at)
