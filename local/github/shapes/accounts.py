"""Users, organisations and repositories, which GitHub embeds in almost every response."""

from typing import Any
from zlib import crc32

from local.github.messages import Site

USER_LINKS = {
    "followers": "/followers",
    "following": "/following{/other_user}",
    "gists": "/gists{/gist_id}",
    "starred": "/starred{/owner}{/repo}",
    "subscriptions": "/subscriptions",
    "organizations": "/orgs",
    "repos": "/repos",
    "events": "/events{/privacy}",
    "received_events": "/received_events",
}

PLAIN_REPOSITORY_LINKS = (
    "contributors", "deployments", "downloads", "events", "forks", "hooks", "languages", "merges", "stargazers",
    "subscribers", "subscription", "tags", "teams",
)  # fmt: skip

TEMPLATED_REPOSITORY_LINKS = {
    "archive": "/{archive_format}{/ref}",
    "assignees": "/assignees{/user}",
    "blobs": "/git/blobs{/sha}",
    "branches": "/branches{/branch}",
    "collaborators": "/collaborators{/collaborator}",
    "comments": "/comments{/number}",
    "commits": "/commits{/sha}",
    "compare": "/compare/{base}...{head}",
    "contents": "/contents/{+path}",
    "git_commits": "/git/commits{/sha}",
    "git_refs": "/git/refs{/sha}",
    "git_tags": "/git/tags{/sha}",
    "issue_comment": "/issues/comments{/number}",
    "issue_events": "/issues/events{/number}",
    "issues": "/issues{/number}",
    "keys": "/keys{/key_id}",
    "labels": "/labels{/name}",
    "milestones": "/milestones{/number}",
    "notifications": "/notifications{?since,all,participating}",
    "pulls": "/pulls{/number}",
    "releases": "/releases{/id}",
    "statuses": "/statuses/{sha}",
    "trees": "/git/trees{/sha}",
}


def id_of(name: str) -> int:
    """A hash of the name: ids stay the same after a restart."""
    return crc32(name.lower().encode())


def node_id(kind: str, number: int) -> str:
    return f"{kind}_{number}"


def account(site: Site, login: str, kind: str = "User") -> dict[str, Any]:
    url = f"{site.api}/users/{login}"
    return {
        "login": login,
        "id": id_of(login),
        "node_id": node_id("U", id_of(login)),
        "avatar_url": f"{site.html}/avatars/{login}",
        "gravatar_id": "",
        "url": url,
        "html_url": f"{site.html}/{login}",
        "type": kind,
        "site_admin": False,
        **{f"{name}_url": url + path for name, path in USER_LINKS.items()},
    }


def repository(site: Site, full_name: str) -> dict[str, Any]:
    owner, name = full_name.split("/")
    url = f"{site.api}/repos/{full_name}"
    return {
        "id": id_of(full_name),
        "node_id": node_id("R", id_of(full_name)),
        "name": name,
        "full_name": full_name,
        "private": True,
        "owner": account(site, owner, "Organization"),
        "html_url": f"{site.html}/{full_name}",
        "description": None,
        "fork": False,
        "url": url,
        **{f"{link}_url": f"{url}/{link}" for link in PLAIN_REPOSITORY_LINKS},
        **{f"{link}_url": url + path for link, path in TEMPLATED_REPOSITORY_LINKS.items()},
    }
