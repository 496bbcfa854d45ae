"""The App and its installations."""

from typing import Any

from local.github.credentials import APP_ID, CLIENT_ID
from local.github.messages import Site
from local.github.records import Installation
from local.github.shapes.accounts import account, id_of, node_id

SLUG = "runledger-simulated"
OWNER = "octocat"
ENTERPRISE = "Enterprise"  # an account without a login
EVENTS = ["deployment", "deployment_status", "workflow_job", "workflow_run"]
PERMISSIONS = {
    "actions": "write",
    "administration": "write",
    "deployments": "read",
    "metadata": "read",
    "organization_self_hosted_runners": "write",
}
CREATED_AT = "2025-01-01T00:00:00Z"


def app(site: Site, installations: int) -> dict[str, Any]:
    return {
        "id": APP_ID,
        "slug": SLUG,
        "client_id": CLIENT_ID,
        "node_id": node_id("A", APP_ID),
        "owner": account(site, OWNER),
        "name": "Runledger (simulated)",
        "description": None,
        "external_url": site.html,
        "html_url": f"{site.html}/apps/{SLUG}",
        "created_at": CREATED_AT,
        "updated_at": CREATED_AT,
        "permissions": PERMISSIONS,
        "events": EVENTS,
        "installations_count": installations,
    }


def installation(site: Site, installed: Installation) -> dict[str, Any]:
    settings = f"{site.html}/organizations/{installed.account}/settings/installations/{installed.id}"
    return {
        "id": installed.id,
        "client_id": CLIENT_ID,
        "account": _installed_on(site, installed),
        "repository_selection": installed.repository_selection,
        "access_tokens_url": f"{site.api}/app/installations/{installed.id}/access_tokens",
        "repositories_url": f"{site.api}/installation/repositories",
        "html_url": settings,
        "app_id": APP_ID,
        "app_slug": SLUG,
        "target_id": id_of(installed.account),
        "target_type": installed.account_type,
        "permissions": PERMISSIONS,
        "events": EVENTS,
        "created_at": installed.created_at,
        "updated_at": installed.suspended_at or installed.created_at,
        "single_file_name": None,
        "suspended_by": account(site, OWNER) if installed.suspended_at else None,
        "suspended_at": installed.suspended_at,
    }


def _installed_on(site: Site, installed: Installation) -> dict[str, Any]:
    if installed.account_type != ENTERPRISE:
        return account(site, installed.account, installed.account_type)
    return {
        "id": id_of(installed.account),
        "node_id": node_id("E", id_of(installed.account)),
        "slug": installed.account,
        "name": installed.account,
        "html_url": f"{site.html}/enterprises/{installed.account}",
        "avatar_url": f"{site.html}/avatars/{installed.account}",
        "created_at": CREATED_AT,
        "updated_at": CREATED_AT,
    }


def token(value: str, expires_at: str) -> dict[str, Any]:
    return {"token": value, "expires_at": expires_at, "permissions": PERMISSIONS, "repository_selection": "all"}
