"""Renders the details of a run: its status, origin and job counts."""

from __future__ import annotations

from typing import Any

from runledger_cli.rendering.formatting import printable
from runledger_cli.rendering.jobs import COMPLETED, status
from runledger_cli.rendering.style import Style, Tone
from runledger_cli.rendering.tables import pairs

Job = dict[str, Any]
# The conclusions that count as failures in the counters of a run.
FAILURES = ("failure", "timed_out", "startup_failure")


def run_details(style: Style, run: dict[str, Any], jobs: list[Job], attempts: list[int]) -> list[str]:
    others = ", ".join(str(each) for each in attempts if each != run.get("run_attempt"))
    facts = [
        ("status", status(run)),
        ("run", f"{run['run_id']}, attempt {run.get('run_attempt', 1)}" + (f" (others: {others})" if others else "")),
        ("workflow", run.get("workflow_id")),
        ("repository", run.get("repo_full_name")),
        ("branch", run.get("head_branch")),
        ("created", style.time(run.get("created_at"))),
        ("jobs", _counts(run, [job for job in jobs if job.get("carried_over")])),
        ("re-run", run.get("rerun_result")),
        ("GitHub", run.get("run_html_url")),
    ]
    return [style.paint(printable(run.get("workflow_name") or "run"), Tone.STRONG), *pairs(style, facts)]


def _counts(run: dict[str, Any], carried_over: list[Job]) -> str:
    """The run's counters include the jobs that a re-run carried over."""
    copied = {
        "total_jobs": len(carried_over),
        "completed_jobs": sum(job.get("status") == COMPLETED for job in carried_over),
        "failed_jobs": sum(job.get("conclusion") in FAILURES for job in carried_over),
    }
    total, completed, failed = (max(0, run.get(name, 0) - number) for name, number in copied.items())
    text = f"{total}: {completed} completed, {failed} failed"
    return f"{text} ({len(carried_over)} more carried over)" if carried_over else text
