"""Waits for a reconciler pass and prints its result."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from runledger_cli.errors import CommandError

if TYPE_CHECKING:
    from runledger_cli.api import Json
    from runledger_cli.session import Session

POLL_SECONDS = 2.0
MAX_WAIT_SECONDS = 960  # the function may wait five minutes for its start, and take ten
FINAL_STATUSES = ("finished", "failed")
# A counter of zero. Findings are indented, and always shown.
ZERO = re.compile(r"\S.*: 0")


def report(session: Session, requested: Json, *, wait: bool) -> int:
    """Prints the id of the pass, or waits and prints its result."""
    screen = session.screen
    if not wait:
        if screen.as_json:
            screen.document(requested)
        else:
            screen.show([f"requested: {requested['id']}"])
        return 0
    outcome = _wait(session, requested["id"])
    if screen.as_json:
        screen.document(outcome)
    else:
        screen.show(_lines(outcome))
    succeeded = outcome["status"] == "finished" and outcome.get("outcome") != "errors"
    return 0 if succeeded else 1


def _lines(outcome: Json) -> list[str]:
    """The result of a cleanup is one sentence. For a pass, counters of zero are omitted."""
    if result := outcome.get("result"):
        return [result]
    lines = (outcome.get("text") or outcome["status"]).splitlines()
    return [line for line in lines if not ZERO.fullmatch(line)]


def _wait(session: Session, pass_id: str) -> Json:
    for _ in range(round(MAX_WAIT_SECONDS / POLL_SECONDS)):
        outcome = session.api.get("admin", "reconciliation", pass_id)
        if outcome["status"] in FINAL_STATUSES:
            return outcome
        session.pause(POLL_SECONDS)
    raise CommandError(
        f"{pass_id} is still {outcome['status']} after {MAX_WAIT_SECONDS // 60} minutes: see the reconciler's log"
    )
