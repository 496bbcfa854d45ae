"""Launcher events from the ledger's bus: which machine was started for which job, and how it ended."""

from collections.abc import Mapping
from typing import Any

from runledger.platform import batches
from runledger.wiring import runners

launcher_events = runners.launcher_events()


def handler(event: dict[str, Any], context: Any) -> Any:
    return batches.each_event(event, context, _record)


def _record(event: Mapping[str, Any], sent_at: str | None) -> None:
    launcher_events.record(event, sent_at=sent_at)
