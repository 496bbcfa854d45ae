"""Deployments, their statuses, and the approvals that runs wait for."""

from typing import Any

from local.github.messages import Site
from local.github.records import Deployment
from local.github.shapes.accounts import account, id_of, node_id


def deployment(site: Site, record: Deployment) -> dict[str, Any]:
    url = _url(site, record)
    return {
        "url": url,
        "id": record.id,
        "node_id": node_id("DE", record.id),
        "sha": record.sha,
        "ref": record.ref,
        "task": "deploy",
        "payload": {},
        "environment": record.environment,
        "original_environment": record.environment,
        "description": None,
        "creator": account(site, record.creator),
        "created_at": record.created_at,
        "updated_at": record.created_at,
        "statuses_url": f"{url}/statuses",
        "repository_url": f"{site.api}/repos/{record.repository}",
    }


def statuses(site: Site, record: Deployment) -> list[dict[str, Any]]:
    """Newest first, as on GitHub: the first status is the current one."""
    url = _url(site, record)
    oldest_first = [
        {
            "url": f"{url}/statuses/{number}",
            "id": number,
            "node_id": node_id("DES", number),
            "state": status["state"],
            "creator": account(site, record.creator),
            "description": "",
            "environment": record.environment,
            "target_url": "",
            "created_at": status.get("created_at", record.created_at),
            "updated_at": status.get("created_at", record.created_at),
            "deployment_url": url,
            "repository_url": f"{site.api}/repos/{record.repository}",
        }
        for number, status in enumerate(record.statuses, start=1)
    ]
    return oldest_first[::-1]


def pending(site: Site, record: Deployment) -> dict[str, Any]:
    environment_id = id_of(f"{record.repository} {record.environment}")
    log = f"{site.html}/{record.repository}/deployments/activity_log"
    return {
        "environment": {
            "id": environment_id,
            "node_id": node_id("EN", environment_id),
            "name": record.environment,
            "url": f"{site.api}/repos/{record.repository}/environments/{record.environment}",
            "html_url": f"{log}?environments_filter={record.environment}",
        },
        "wait_timer": 0,
        "wait_timer_started_at": None,
        "current_user_can_approve": False,
        "reviewers": [{"type": "User", "reviewer": account(site, login)} for login in record.reviewers],
    }


def _url(site: Site, record: Deployment) -> str:
    return f"{site.api}/repos/{record.repository}/deployments/{record.id}"
