"""Renders a job's details: origin, runner and cost."""

from __future__ import annotations

from typing import Any

from runledger_cli.rendering.formatting import commit, dollars, duration, printable
from runledger_cli.rendering.jobs import between, name, ran_seconds, status
from runledger_cli.rendering.style import Style, Tone
from runledger_cli.rendering.tables import Cell, pairs

CARRIED_OVER = "by a re-run: its times and its runner are those of the original job"


def job_details(style: Style, job: dict[str, Any]) -> list[str]:
    title = printable(name(job) or f"job {job['job_id']}")
    facts: list[tuple[str, Cell | object]] = [
        ("status", status(job)),
        ("carried over", CARRIED_OVER if job.get("carried_over") else None),
        ("job", f"{job['job_id']} of installation {job['installation_id']}"),
        ("run", _run(job)),
        ("workflow", job.get("workflow_id")),
        ("repository", _source(job)),
        ("labels", ", ".join(map(str, job.get("labels") or ())) or None),
        ("environment", job.get("environment")),
        ("approval", _approval(style, job)),
        ("runner", job.get("runner_name")),
        ("instance", _instance(job)),
        ("interrupted", "yes" if job.get("was_interrupted") else "no"),
        ("cost", _cost(style, job)),
        ("GitHub", job.get("job_html_url")),
    ]
    return [style.paint(title, Tone.STRONG), *pairs(style, facts)]


def _run(job: dict[str, Any]) -> str | None:
    return f"{job['run_id']}, attempt {job.get('run_attempt', 1)}" if job.get("run_id") else None


def _source(job: dict[str, Any]) -> str | None:
    branch, sha = job.get("head_branch"), job.get("head_sha")
    parts = [job.get("repo_full_name"), branch and f"on {branch}", sha and f"at {commit(sha)}"]
    return " ".join(each for each in parts if each) or None


def _instance(job: dict[str, Any]) -> str | None:
    if not job.get("instance_id"):
        return None
    kind = " ".join(each for each in (job.get("instance_lifecycle"), job.get("instance_type")) if each)
    pool = job.get("pool_name")
    return ", ".join(each for each in (job["instance_id"], kind, pool and f"pool {pool}") if each)


def _approval(style: Style, job: dict[str, Any]) -> str | None:
    requested, approved = job.get("approval_requested_at"), job.get("approved_at")
    if job.get("rejected_at"):
        return f"rejected {style.time(job['rejected_at'])}"
    if approved:
        return f"approved {style.time(approved)}" + (
            f", after {duration(between(requested, approved))}" if requested else ""
        )
    return f"requested {style.time(requested)}" if requested else None


def _cost(style: Style, job: dict[str, Any]) -> str | None:
    """Only the duration if the price is unknown; the cost is never estimated."""
    if job.get("carried_over"):
        return dollars(0)
    ran = job.get("usage_in_seconds", ran_seconds(style, job))
    if not job.get("started_at") or ran is None:
        return None
    price, amount, saved = job.get("price_per_hour"), job.get("usage_in_dollars"), job.get("saved_in_dollars")
    spent = duration(ran) if amount is None else f"{dollars(amount)} for {duration(ran)}"
    rate = "price unknown" if price is None else f"${price} an hour"
    return ", ".join(each for each in (spent, rate, saved and f"{dollars(saved)} saved by spot") if each)
