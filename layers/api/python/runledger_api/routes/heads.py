"""Heads: whether the workflows of a branch are green, and the runs of its newest commits."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from aws_lambda_powertools.event_handler.openapi.params import Query
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from runledger.model.releases import HeadKey
from runledger.tables import release_keys, schema
from runledger.tables.pages import Item, Key, Page, Span

from runledger_api import wiring
from runledger_api.errors import InvalidParameter, NotFound
from runledger_api.features import require_releases
from runledger_api.models.heads import BranchHeads, Heads
from runledger_api.pagination import Paginator
from runledger_api.parameters import INSTALLATION, Cursor, InstallationId, Limit, Owner, Repo, RepositoryName
from runledger_api.request import current_request
from runledger_api.responses import untyped

router = APIGatewayHttpRouter()
HEADS = f"{INSTALLATION}/heads"
LONGEST_BRANCH = 250
# A branch has a few workflows, and each takes a query.
MOST_WORKFLOWS = 100
# A workflow may run several times for a commit: on a schedule, or for several triggers.
RUNS_FOR_EACH_COMMIT = 3
Branch = Annotated[str | None, Query(max_length=LONGEST_BRANCH, description="defaults to the default branch")]
Commits = Annotated[int, Query(ge=1, le=50, description="maximum number of commits")]


@router.get(
    HEADS,
    tags=["releases"],
    operation_id="listHeads",
    summary="State of each workflow on default branches: green or red, since when, and the last runs",
    description="With `repo`, `branch` or `all_branches` selects other branches. A page contains whole repositories, "
    "so it may be longer than `limit`.",
)
def heads(
    *,
    installation_id: InstallationId,
    repo: Repo = None,
    branch: Annotated[
        str | None, Query(max_length=LONGEST_BRANCH, description="only this branch; requires repo")
    ] = None,
    all_branches: Annotated[bool, Query(description="all branches of the repository; requires repo")] = False,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Heads:
    table = require_releases().heads
    for name, given in (("branch", branch), ("all_branches", all_branches)):
        if given and not repo:
            raise InvalidParameter(name, "requires repo")
    paginator = Paginator(wiring.cursors(), current_request(router), cursor, Span())
    start = paginator.start
    found: Page[Item] = Page(items=[], next_key=None)
    if not (start and repo and _is_of_branches(start, installation_id, repo)):
        found = table.default_heads(installation_id, repo, limit=limit, start=start)
        start = None
    items, next_key = [each for each in found.items if branch in (None, each["branch"])], found.next_key
    if repo and (branch or all_branches) and next_key is None:
        others = table.branch_heads(installation_id, repo, branch, limit=max(1, limit - len(items)), start=start)
        items, next_key = items + others.items, others.next_key
    return paginator.page([_body(each) for each in items], next_key)


@router.get(
    f"{HEADS}/<owner>/<repository>",
    tags=["releases"],
    operation_id="getBranchHeads",
    summary="The newest commits of a branch, with the runs of each workflow",
)
def branch_heads(
    *,
    installation_id: InstallationId,
    owner: Owner,
    repository: RepositoryName,
    branch: Branch = None,
    limit: Commits = 20,
) -> BranchHeads:
    table, request, repo = require_releases().heads, current_request(router), f"{owner}/{repository}"
    found = _of_branch(installation_id, repo, branch)
    if not found:
        which = f"branch {branch} of {repo}" if branch else repo
        raise NotFound(f"No run of {which} was found in installation {installation_id}")
    runs, truncated = list[dict[str, Any]](), False
    for head in found:
        if not request.has_time():
            truncated = True
            break
        newest = table.runs(_key(head), limit=limit * RUNS_FOR_EACH_COMMIT).items
        runs += [{**each, "workflow_id": head["workflow_id"]} for each in newest if "head_sha" in each]
    return untyped(
        {
            "repo_full_name": repo,
            "branch": found[0]["branch"],
            "workflows": [{"since": None, **each} for each in found],
            "commits": _commits(installation_id, repo, runs, limit=limit),
            "truncated": truncated,
        }
    )


def _of_branch(installation_id: int, repo: str, branch: str | None) -> list[Mapping[str, Any]]:
    """Without `branch`, the heads of the default branch."""
    table = require_releases().heads
    found = table.default_heads(installation_id, repo, limit=MOST_WORKFLOWS).items
    found = [each for each in found if branch in (None, each["branch"])]
    if branch and not found:
        found = table.branch_heads(installation_id, repo, branch, limit=MOST_WORKFLOWS).items
    return list(found)


def _key(head: Mapping[str, Any]) -> HeadKey:
    return HeadKey(**{name: head[name] for name in HeadKey._fields})


def _is_of_branches(start: Key, installation_id: int, repo: str) -> bool:
    """Whether the cursor is in the partition of other branches, which follow the default one."""
    return start[schema.PARTITION] == release_keys.branch_heads_key(installation_id, repo)


def _commits(installation_id: int, repo: str, runs: Iterable[Mapping[str, Any]], *, limit: int) -> list[dict[str, Any]]:
    """Sorted by their newest runs: GitHub's ids grow with time."""
    by_commit: dict[str, list[Mapping[str, Any]]] = {}
    for run in sorted(runs, key=lambda each: -each["run_id"]):
        by_commit.setdefault(run["head_sha"], []).append(run)
    newest = list(by_commit)[:limit]
    committed_at = require_releases().heads.commits(installation_id, repo, newest)
    return [{"head_sha": sha, "committed_at": committed_at.get(sha), "runs": by_commit[sha]} for sha in newest]


def _body(head: Mapping[str, Any]) -> Any:
    absent = dict.fromkeys(("since", "last_run", "last_green_run", "previous_run"))
    return {**absent, "is_default_branch": False, **head}
