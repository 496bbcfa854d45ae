"""Workflow runs and their jobs."""

from collections.abc import Sequence
from typing import Any

from local.github.attempts import outcome
from local.github.messages import Site
from local.github.records import Job, Run
from local.github.shapes.accounts import account, id_of, node_id, repository


def run(site: Site, of: Run, attempt: int, jobs: Sequence[Job]) -> dict[str, Any]:
    """One attempt of a run and its jobs."""
    url = f"{site.api}/repos/{of.repository}/actions/runs/{of.id}"
    status, conclusion = outcome(of, attempt, jobs)
    updated_at = of.updated_at or of.created_at
    person = {"name": of.actor, "email": f"{of.actor}@example.com"}
    home = repository(site, of.repository)
    suite = id_of(f"suite {of.id}")
    return {
        "id": of.id,
        "name": of.name,
        "node_id": node_id("WFR", of.id),
        "check_suite_id": suite,
        "check_suite_node_id": node_id("CS", suite),
        "head_branch": of.head_branch,
        "head_sha": of.head_sha,
        "path": of.path,
        "run_number": of.run_number,
        "run_attempt": attempt,
        "event": of.event,
        "display_title": of.name,
        "status": status,
        "conclusion": conclusion,
        "workflow_id": of.workflow_id,
        "url": url,
        "html_url": f"{site.html}/{of.repository}/actions/runs/{of.id}",
        "pull_requests": [],
        "created_at": of.created_at,
        "updated_at": updated_at,
        "run_started_at": updated_at if attempt > 1 else of.created_at,
        "actor": account(site, of.actor),
        "triggering_actor": account(site, of.actor),
        "jobs_url": f"{url}/jobs",
        "logs_url": f"{url}/logs",
        "check_suite_url": f"{site.api}/repos/{of.repository}/check-suites/{suite}",
        "artifacts_url": f"{url}/artifacts",
        "cancel_url": f"{url}/cancel",
        "rerun_url": f"{url}/rerun",
        "previous_attempt_url": f"{url}/attempts/{attempt - 1}" if attempt > 1 else None,
        "workflow_url": f"{site.api}/repos/{of.repository}/actions/workflows/{of.workflow_id}",
        "head_commit": {
            "id": of.head_sha,
            "tree_id": of.head_sha,
            "message": of.name,
            "timestamp": of.created_at,
            "author": person,
            "committer": person,
        },
        "repository": home,
        "head_repository": home,
    }


def job(site: Site, of: Job, in_run: Run) -> dict[str, Any]:
    """GitHub sets `started_at` before a job starts, and runner 0 if a finished job never had a runner."""
    repository_url = f"{site.api}/repos/{in_run.repository}"
    finished = of.status == "completed"
    return {
        "id": of.id,
        "run_id": of.run_id,
        "workflow_name": in_run.name,
        "head_branch": in_run.head_branch,
        "run_url": f"{repository_url}/actions/runs/{of.run_id}",
        "run_attempt": of.run_attempt,
        "node_id": node_id("CR", of.id),
        "head_sha": in_run.head_sha,
        "url": f"{repository_url}/actions/jobs/{of.id}",
        "html_url": f"{site.html}/{in_run.repository}/actions/runs/{of.run_id}/job/{of.id}",
        "status": of.status,
        "conclusion": of.conclusion,
        "created_at": of.created_at,
        "started_at": of.started_at or of.completed_at or of.created_at,
        "completed_at": of.completed_at or (of.created_at if finished else None),
        "name": of.name,
        "steps": [],
        "check_run_url": f"{repository_url}/check-runs/{of.id}",
        "labels": of.labels,
        "runner_id": of.runner_id or (0 if finished else None),
        "runner_name": of.runner_name or ("" if finished else None),
        "runner_group_id": of.runner_group_id or (0 if finished else None),
        "runner_group_name": of.runner_group_name or ("" if finished else None),
    }
