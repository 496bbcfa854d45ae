"""Payloads of GitHub's webhooks, from a job of the ledger. Pure.

They match GitHub's schemas. Launchers read the ids, the labels, and the names and the owner of the repository. The
ledger has no more of the repository than its name, so the other fields have neutral values.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlsplit

from runledger.model.addresses import DATA_RESIDENCY
from runledger.model.payload import is_repository_name

REQUIRED = ("job_id", "run_id", "repo_full_name", "labels", "created_at")
GITHUB, GITHUB_API = "https://github.com", "https://api.github.com"
RESOURCES = {
    **{f"{name}_url": f"/{name}" for name in ("contributors", "deployments", "downloads", "events", "forks", "hooks")},
    **{f"{name}_url": f"/{name}" for name in ("languages", "merges", "stargazers", "subscribers", "subscription")},
    **{f"{name}_url": f"/{name}" for name in ("tags", "teams")},
    "archive_url": "/{archive_format}{/ref}",
    "assignees_url": "/assignees{/user}",
    "blobs_url": "/git/blobs{/sha}",
    "branches_url": "/branches{/branch}",
    "collaborators_url": "/collaborators{/collaborator}",
    "comments_url": "/comments{/number}",
    "commits_url": "/commits{/sha}",
    "compare_url": "/compare/{base}...{head}",
    "contents_url": "/contents/{+path}",
    "git_commits_url": "/git/commits{/sha}",
    "git_refs_url": "/git/refs{/sha}",
    "git_tags_url": "/git/tags{/sha}",
    "issue_comment_url": "/issues/comments{/number}",
    "issue_events_url": "/issues/events{/number}",
    "issues_url": "/issues{/number}",
    "keys_url": "/keys{/key_id}",
    "labels_url": "/labels{/name}",
    "milestones_url": "/milestones{/number}",
    "notifications_url": "/notifications{?since,all,participating}",
    "pulls_url": "/pulls{/number}",
    "releases_url": "/releases{/id}",
    "statuses_url": "/statuses/{sha}",
    "trees_url": "/git/trees{/sha}",
}
OWNER_RESOURCES = {
    **{f"{name}_url": f"/{name}" for name in ("followers", "received_events", "subscriptions")},
    "organizations_url": "/orgs",
    "repos_url": "/repos",
    "following_url": "/following{/other_user}",
    "gists_url": "/gists{/gist_id}",
    "starred_url": "/starred{/owner}{/repo}",
    "events_url": "/events{/privacy}",
}
COUNTS = (
    *("forks", "forks_count", "open_issues", "open_issues_count"),
    *("size", "stargazers_count", "watchers", "watchers_count"),
)
FEATURES = (
    *("archived", "fork", "has_downloads", "has_issues", "has_pages", "has_projects", "has_wiki"),
    *("is_template", "web_commit_signoff_required"),
)
ABSENT = ("description", "homepage", "language", "license", "mirror_url", "pushed_at")

Job = Mapping[str, Any]


def missing(job: Job) -> str | None:
    """What of the job isn't known, without which no payload can be made; None if nothing is missing."""
    for name in REQUIRED:
        if not job.get(name):
            return f"the job has no {name}"
    return None if is_repository_name(str(job["repo_full_name"])) else "the name of the repository isn't valid"


def ping() -> dict[str, Any]:
    """What GitHub sends to test a webhook. A launcher checks its signature, and does nothing."""
    return {"zen": "Design for failure.", "hook_id": 0, "hook": {"type": "App", "id": 0, "events": ["workflow_job"]}}


def queued(job: Job, *, owner_type: str = "Organization", installation_id: int | None = None) -> dict[str, Any]:
    """`workflow_job` with the action `queued`. `installation_id` is that of the launcher's App, never our own."""
    found = {
        "action": "queued",
        "workflow_job": _job(job),
        "repository": _repository(job, owner_type),
        "sender": _owner(job, owner_type),
    }
    return found | ({"installation": {"id": installation_id, "node_id": ""}} if installation_id is not None else {})


def _job(job: Job) -> dict[str, Any]:
    """A queued job has no runner yet, and the start that GitHub reports is its creation."""
    api, job_id, run_id = _repository_api(job), job["job_id"], job["run_id"]
    page = f"{_hosts(job)[0]}/{job['repo_full_name']}/actions/runs/{run_id}/job/{job_id}"
    return {
        "id": job_id,
        "run_id": run_id,
        "run_attempt": job.get("run_attempt", 1),
        "run_url": f"{api}/actions/runs/{run_id}",
        "node_id": "",
        "name": job.get("job_name", ""),
        "workflow_name": job.get("workflow_name"),
        "head_branch": job.get("head_branch"),
        "head_sha": job.get("head_sha", ""),
        "url": f"{api}/actions/jobs/{job_id}",
        "html_url": job.get("job_html_url") or page,
        "check_run_url": f"{api}/check-runs/{job_id}",
        "status": "queued",
        "conclusion": None,
        "created_at": job["created_at"],
        "started_at": job["created_at"],
        "completed_at": None,
        "steps": [],
        "labels": list(job["labels"]),
        **dict.fromkeys(("runner_id", "runner_name", "runner_group_id", "runner_group_name")),
    }


def _repository(job: Job, owner_type: str) -> dict[str, Any]:
    full_name, host = job["repo_full_name"], urlsplit(_hosts(job)[0]).netloc
    page, api = f"https://{host}/{full_name}", _repository_api(job)
    return {
        "id": 0,
        "node_id": "",
        "name": full_name.partition("/")[2],
        "full_name": full_name,
        "private": True,
        "visibility": "private",
        "owner": _owner(job, owner_type),
        "html_url": page,
        "clone_url": f"{page}.git",
        "svn_url": page,
        "git_url": f"git://{host}/{full_name}.git",
        "ssh_url": f"git@{host}:{full_name}.git",
        "url": api,
        **{name: f"{api}{path}" for name, path in RESOURCES.items()},
        "created_at": job["created_at"],
        "updated_at": job["created_at"],
        "default_branch": "main",
        "topics": [],
        "custom_properties": {},
        **dict.fromkeys(COUNTS, 0),
        **dict.fromkeys(FEATURES, False),
        **dict.fromkeys(ABSENT),
    }


def _owner(job: Job, owner_type: str) -> dict[str, Any]:
    login = job["repo_full_name"].partition("/")[0]
    page, api = _hosts(job)
    account = f"{api}/users/{quote(login)}"
    return {
        "login": login,
        "id": 0,
        "node_id": "",
        "avatar_url": f"{page}/{login}.png",
        "gravatar_id": "",
        "url": account,
        "html_url": f"{page}/{login}",
        "type": owner_type,
        "site_admin": False,
        **{name: f"{account}{path}" for name, path in OWNER_RESOURCES.items()},
    }


def _repository_api(job: Job) -> str:
    return f"{_hosts(job)[1]}/repos/{job['repo_full_name']}"


def _hosts(job: Job) -> tuple[str, str]:
    """The addresses of GitHub's pages and of its API, from the page of the job."""
    host = urlsplit(job.get("job_html_url") or GITHUB).netloc
    if f"https://{host}" == GITHUB:
        return GITHUB, GITHUB_API
    return f"https://{host}", f"https://api.{host}" if host.endswith(DATA_RESIDENCY) else f"https://{host}/api/v3"
