"""Workflow runs and their jobs."""

from collections.abc import Sequence
from typing import Any

from local.github.attempts import outcome
from local.github.messages import Site
from local.github.records import Job, Run
from local.github.shapes.accounts import account, id_of, node_id, repository


def run(site: Site, record: Run, attempt: int, jobs: Sequence[Job]) -> dict[str, Any]:
    """One attempt of a run and its jobs."""
    url = f"{site.api}/repos/{record.repository}/actions/runs/{record.id}"
    status, conclusion = outcome(record, attempt, jobs)
    updated_at = record.updated_at or record.created_at
    person = {"name": record.actor, "email": f"{record.actor}@example.com"}
    repository_document = repository(site, record.repository)
    suite = id_of(f"suite {record.id}")
    return {
        "id": record.id,
        "name": record.name,
        "node_id": node_id("WFR", record.id),
        "check_suite_id": suite,
        "check_suite_node_id": node_id("CS", suite),
        "head_branch": record.head_branch,
        "head_sha": record.head_sha,
        "path": record.path,
        "run_number": record.run_number,
        "run_attempt": attempt,
        "event": record.event,
        "display_title": record.name,
        "status": status,
        "conclusion": conclusion,
        "workflow_id": record.workflow_id,
        "url": url,
        "html_url": f"{site.html}/{record.repository}/actions/runs/{record.id}",
        "pull_requests": [],
        "created_at": record.created_at,
        "updated_at": updated_at,
        "run_started_at": updated_at if attempt > 1 else record.created_at,
        "actor": account(site, record.actor),
        "triggering_actor": account(site, record.actor),
        "jobs_url": f"{url}/jobs",
        "logs_url": f"{url}/logs",
        "check_suite_url": f"{site.api}/repos/{record.repository}/check-suites/{suite}",
        "artifacts_url": f"{url}/artifacts",
        "cancel_url": f"{url}/cancel",
        "rerun_url": f"{url}/rerun",
        "previous_attempt_url": f"{url}/attempts/{attempt - 1}" if attempt > 1 else None,
        "workflow_url": f"{site.api}/repos/{record.repository}/actions/workflows/{record.workflow_id}",
        "head_commit": {
            "id": record.head_sha,
            "tree_id": record.head_sha,
            "message": record.name,
            "timestamp": record.committed_at or record.created_at,
            "author": person,
            "committer": person,
        },
        "repository": repository_document,
        "head_repository": repository_document,
    }


def job(site: Site, record: Job, run_record: Run) -> dict[str, Any]:
    """GitHub sets `started_at` before a job starts, and runner 0 if a finished job never had a runner."""
    repository_url = f"{site.api}/repos/{run_record.repository}"
    finished = record.status == "completed"
    return {
        "id": record.id,
        "run_id": record.run_id,
        "workflow_name": run_record.name,
        "head_branch": run_record.head_branch,
        "run_url": f"{repository_url}/actions/runs/{record.run_id}",
        "run_attempt": record.run_attempt,
        "node_id": node_id("CR", record.id),
        "head_sha": run_record.head_sha,
        "url": f"{repository_url}/actions/jobs/{record.id}",
        "html_url": f"{site.html}/{run_record.repository}/actions/runs/{record.run_id}/job/{record.id}",
        "status": record.status,
        "conclusion": record.conclusion,
        "created_at": record.created_at,
        "started_at": record.started_at or record.completed_at or record.created_at,
        "completed_at": record.completed_at or (record.created_at if finished else None),
        "name": record.name,
        "steps": [],
        "check_run_url": f"{repository_url}/check-runs/{record.id}",
        "labels": record.labels,
        "runner_id": record.runner_id or (0 if finished else None),
        "runner_name": record.runner_name or ("" if finished else None),
        "runner_group_id": record.runner_group_id or (0 if finished else None),
        "runner_group_name": record.runner_group_name or ("" if finished else None),
    }
