"""Repositories in full, workflows, and the webhooks of dispatched runs."""

from typing import Any

from local.github.messages import Site
from local.github.records import Run, Workflow
from local.github.shapes.accounts import account, node_id, repository
from local.github.shapes.runs import run as run_shape

COUNTS = (
    *("forks", "forks_count", "network_count", "open_issues", "open_issues_count"),
    *("size", "stargazers_count", "subscribers_count", "watchers", "watchers_count"),
)
FLAGS = ("archived", "disabled", *(f"has_{each}" for each in ("discussions", "issues", "pages", "projects", "wiki")))
CREATED_AT = "2025-01-01T00:00:00Z"


def full_repository(site: Site, full_name: str) -> dict[str, Any]:
    clone = f"{site.html}/{full_name}.git"
    return {
        **repository(site, full_name),
        **dict.fromkeys(COUNTS, 0),
        **dict.fromkeys(FLAGS, False),
        "default_branch": "main",
        "clone_url": clone,
        "git_url": clone,
        "ssh_url": clone,
        "svn_url": clone,
        "mirror_url": None,
        "homepage": None,
        "language": None,
        "license": None,
        "visibility": "private",
        "created_at": CREATED_AT,
        "pushed_at": CREATED_AT,
        "updated_at": CREATED_AT,
    }


def workflow(site: Site, record: Workflow) -> dict[str, Any]:
    path = f"{record.repository}/actions/workflows/{record.id}"
    return {
        "id": record.id,
        "node_id": node_id("W", record.id),
        "name": record.name,
        "path": record.path,
        "state": record.state,
        "created_at": record.created_at,
        "updated_at": record.created_at,
        "url": f"{site.api}/repos/{path}",
        "html_url": f"{site.html}/{record.repository}/blob/main/{record.path}",
        "badge_url": f"{site.html}/{record.repository}/workflows/{record.name}/badge.svg",
    }


def dispatched(site: Site, record: Run) -> dict[str, Any]:
    run = f"{record.repository}/actions/runs/{record.id}"
    return {
        "workflow_run_id": record.id,
        "run_url": f"{site.api}/repos/{run}",
        "html_url": f"{site.html}/{run}",
    }


def run_webhook(site: Site, record: Run, action: str, *, installation_id: int) -> dict[str, Any]:
    owner = record.repository.partition("/")[0]
    return {
        "action": action,
        "workflow_run": run_shape(site, record, record.run_attempt, []),
        "workflow": {"id": record.workflow_id, "name": record.name, "path": record.path},
        "repository": full_repository(site, record.repository),
        "organization": account(site, owner, "Organization"),
        "installation": {"id": installation_id},
        "sender": account(site, record.actor),
    }
