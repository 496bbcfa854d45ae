"""Passes of the reconciler: they are asked for, run on their own, and tell what they did."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runledger_cli.errors import CommandError

if TYPE_CHECKING:
    from runledger_cli.api import Answer
    from runledger_cli.session import Session

POLL_SECONDS = 2.0
LONGEST_SECONDS = 960  # a function may run for 15 minutes, and is not started at once
OVER = ("finished", "failed")


def conclude(session: Session, requested: Answer, *, wait: bool) -> int:
    """Say under which id the pass can be found, or wait and say what it did."""
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
        screen.show((outcome.get("text") or outcome["status"]).splitlines())
    return 0 if outcome["status"] == "finished" else 1


def _wait(session: Session, pass_id: str) -> Answer:
    for _ in range(round(LONGEST_SECONDS / POLL_SECONDS)):
        outcome = session.api.get("admin", "reconciliation", pass_id)
        if outcome["status"] in OVER:
            return outcome
        session.pause(POLL_SECONDS)
    raise CommandError(
        f"{pass_id} is still {outcome['status']} after {LONGEST_SECONDS // 60} minutes: see its function's log"
    )
