"""Renders events of the feed."""

from __future__ import annotations

from typing import Any

from runledger_cli.rendering.formatting import printable
from runledger_cli.rendering.style import Style, Tone, tone_of

SHOWN = ("repo_full_name", "workflow_name", "job_name", "environment", "runner_id", "conclusion")
INCIDENTS = {"job.interrupted", "job.stuck", "approval.refused", "approval.forgotten", "runner.orphaned"}
TONES = {"job.failed": Tone.BAD, "run.failed": Tone.BAD, "job.started": Tone.BUSY, "job.queued": Tone.PENDING}


def feed_line(style: Style, event: dict[str, Any]) -> str:
    time = style.paint(style.time(event["time"], exact=True), Tone.FAINT)
    kind, data = event["type"], event.get("data")
    data = data if isinstance(data, dict) else {}
    tone = Tone.ALARM if kind in INCIDENTS else TONES.get(kind) or tone_of(data.get("conclusion"))
    about = ", ".join(printable(data[name]) for name in SHOWN if data.get(name) is not None)
    line = f"{time}  {printable(event['subject'])}  {style.paint(printable(kind), tone)}"
    return f"{line}  {about}" if about else line
