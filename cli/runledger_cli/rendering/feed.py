"""Renders feed events."""

from __future__ import annotations

from typing import Any

from runledger_cli.rendering.formatting import printable
from runledger_cli.rendering.style import Style, Tone, tone_of

SHOWN = ("repo_full_name", "workflow_name", "job_name", "environment", "runner_id", "conclusion")
INCIDENTS = {"job.interrupted", "job.stuck", "approval.refused", "approval.forgotten", "runner.orphaned"}
POSTED = "api"  # the origin of custom events, whose data can be any JSON
TONES = {
    **dict.fromkeys(("job.failed", "run.failed", "head.turned_red", "release.failed"), Tone.BAD),
    "job.started": Tone.BUSY,
    "job.queued": Tone.PENDING,
}


def feed_line(style: Style, event: dict[str, Any]) -> str:
    time = style.paint(style.time(event["time"], exact=True), Tone.FAINT)
    kind, data = event["type"], event.get("data")
    data = data if isinstance(data, dict) else {}
    is_posted = event.get("origin") == POSTED
    found = {name: data[name] for name in SHOWN if _is_plain(data.get(name))}
    if is_posted:
        found.pop("job_name", None)
    tone = Tone.PLAIN if is_posted else _tone(kind, found)
    about = ", ".join(map(printable, found.values()))
    name = f"{printable(kind)} (posted)" if is_posted else printable(kind)
    line = f"{time}  {printable(event['subject'])}  {style.paint(name, tone)}"
    return f"{line}  {about}" if about else line


def _tone(kind: str, data: dict[str, Any]) -> Tone:
    conclusion = data.get("conclusion")
    if kind in INCIDENTS:
        return Tone.ALARM
    return TONES.get(kind) or tone_of(conclusion if isinstance(conclusion, str) else None)


def _is_plain(value: object) -> bool:
    """Posted events can have any JSON under these names."""
    return isinstance(value, str | int | float) and not isinstance(value, bool)
