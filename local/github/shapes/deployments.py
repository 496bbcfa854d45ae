"""Deployments, their statuses, and the approvals that runs wait for."""

from typing import Any

from local.github.messages import Site
from local.github.records import Deployment
from local.github.shapes.accounts import account, id_of, node_id


def deployment(site: Site, of: Deployment) -> dict[str, Any]:
    url = _url(site, of)
    return {
        "url": url,
        "id": of.id,
        "node_id": node_id("DE", of.id),
        "sha": of.sha,
        "ref": of.ref,
        "task": "deploy",
        "payload": {},
        "environment": of.environment,
        "original_environment": of.environment,
        "description": None,
        "creator": account(site, of.creator),
        "created_at": of.created_at,
        "updated_at": of.created_at,
        "statuses_url": f"{url}/statuses",
        "repository_url": f"{site.api}/repos/{of.repository}",
    }


def statuses(site: Site, of: Deployment) -> list[dict[str, Any]]:
    """Newest first, as on GitHub: the first status is the current one."""
    url = _url(site, of)
    listed = [
        {
            "url": f"{url}/statuses/{number}",
            "id": number,
            "node_id": node_id("DES", number),
            "state": status["state"],
            "creator": account(site, of.creator),
            "description": "",
            "environment": of.environment,
            "target_url": "",
            "created_at": status.get("created_at", of.created_at),
            "updated_at": status.get("created_at", of.created_at),
            "deployment_url": url,
            "repository_url": f"{site.api}/repos/{of.repository}",
        }
        for number, status in enumerate(of.statuses, start=1)
    ]
    return listed[::-1]


def pending(site: Site, of: Deployment) -> dict[str, Any]:
    environment_id = id_of(f"{of.repository} {of.environment}")
    return {
        "environment": {
            "id": environment_id,
            "node_id": node_id("EN", environment_id),
            "name": of.environment,
            "url": f"{site.api}/repos/{of.repository}/environments/{of.environment}",
            "html_url": f"{site.html}/{of.repository}/deployments/activity_log?environments_filter={of.environment}",
        },
        "wait_timer": 0,
        "wait_timer_started_at": None,
        "current_user_can_approve": False,
        "reviewers": [{"type": "User", "reviewer": account(site, login)} for login in of.reviewers],
    }


def _url(site: Site, of: Deployment) -> str:
    return f"{site.api}/repos/{of.repository}/deployments/{of.id}"
