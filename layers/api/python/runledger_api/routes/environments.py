"""Environments: what is deployed where, their earlier deployments, and the DORA figures."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

from aws_lambda_powertools.event_handler.openapi.params import Query
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from runledger.model import times
from runledger.model.releases import EnvironmentKey
from runledger.releases import dora
from runledger.releases.dora import Bucket, Deployed
from runledger.releases.environments import is_production
from runledger.tables.pages import Item, Key, Page, Span

from runledger_api import parameters, wiring
from runledger_api.errors import InvalidParameter, NotFound
from runledger_api.features import require_releases
from runledger_api.models.environments import Dora, EnvironmentHistory, Environments
from runledger_api.pagination import Paginator
from runledger_api.parameters import (
    INSTALLATION,
    Cursor,
    InstallationId,
    Limit,
    Owner,
    Repo,
    RepositoryName,
    Since,
    Until,
    required,
)
from runledger_api.request import Request, current_request
from runledger_api.responses import untyped

router = APIGatewayHttpRouter()
LONGEST_ENVIRONMENT = 255
DEFAULT_RANGE = "30d"
# DynamoDB ends a page at 1 MB anyway. Smaller pages let a request stop in time.
PAGE = 500
HasTime = Callable[[], bool]
MEASURED = ("head_sha", "succeeded_at", "failed_at")
EnvironmentName = Annotated[
    str | None, Query(max_length=LONGEST_ENVIRONMENT, description="name of the environment; required")
]


@router.get(
    f"{INSTALLATION}/environments",
    tags=["releases"],
    operation_id="listEnvironments",
    summary="What is deployed in each environment, since when, and what it can be rolled back to",
)
def environments(
    installation_id: InstallationId, repo: Repo = None, limit: Limit = 50, cursor: Cursor = None
) -> Environments:
    table = require_releases().heads
    paginator = Paginator(wiring.cursors(), current_request(router), cursor, Span())
    found = table.environments(installation_id, repo, limit=limit, start=paginator.start)
    return paginator.page([_body(each) for each in found.items], found.next_key)


@router.get(
    f"{INSTALLATION}/environments/<owner>/<repository>",
    tags=["releases"],
    operation_id="getEnvironment",
    summary="One environment and its deployments, newest first",
)
def environment(
    *,
    installation_id: InstallationId,
    owner: Owner,
    repository: RepositoryName,
    environment: EnvironmentName = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> EnvironmentHistory:
    table, repo = require_releases().heads, f"{owner}/{repository}"
    key = EnvironmentKey(installation_id, repo, required("environment", environment))
    paginator = Paginator(wiring.cursors(), current_request(router), cursor, Span())
    head = table.environment(key)
    if head is None:
        raise NotFound(f"No deployment of {repo} to {environment} was found in installation {installation_id}")
    found = table.deployments(key, limit=limit, start=paginator.start)
    page = paginator.page(found.items, found.next_key)
    return untyped({**_body(head), "deployments": page["items"], "next_cursor": page["next_cursor"]})


@router.get(
    f"{INSTALLATION}/dora",
    tags=["releases"],
    operation_id="getDora",
    summary="Deployment frequency, lead time, change failure rate and time to restore",
    description="Covers production environments: those marked as such on GitHub, or named production, prod or live. "
    "With `environment`, covers environments with this name. An age in `since` is shortened to the retention period. "
    "docs/definitions.md defines each figure. If `truncated` is true, there were too many deployments to read in time, "
    "and some environments are missing.",
)
def figures(
    *,
    installation_id: InstallationId,
    since: Since = DEFAULT_RANGE,
    until: Until = None,
    repo: Repo = None,
    environment: Annotated[
        str | None, Query(max_length=LONGEST_ENVIRONMENT, description="only environments with this name")
    ] = None,
    bucket: Annotated[
        Literal["day", "week"], Query(description="period of `over_time`, in UTC; weeks begin on Monday")
    ] = "day",
) -> Dora:
    request = current_request(router)
    begin, end = _kept_range(request, since or DEFAULT_RANGE, until)
    known, truncated = _every(lambda start: _environments(installation_id, repo, start), request.has_time)
    items = []
    for each in known:
        if not _is_measured(each, environment):
            continue
        deployments, is_partial = _deployments(each, request.has_time)
        if is_partial:
            truncated = True
            break
        measured = dora.measure(deployments, since=begin, until=end, bucket=Bucket(bucket))
        items.append({"repo_full_name": each["repo_full_name"], "environment": each["environment"], **measured})
    return untyped({"since": begin, "until": end, "truncated": truncated, "items": items})


def _is_measured(head: Mapping[str, Any], environment: str | None) -> bool:
    """Without a name, only production environments are measured."""
    if environment:
        return bool(head["environment"] == environment)
    return is_production(head["environment"], head)


def _kept_range(request: Request, since: str, until: str | None) -> tuple[str, str]:
    """An age is shortened to the retention period, so that the default works with every setting."""
    days = require_releases().retention_days
    kept_since = times.earlier(request.now, seconds=days * times.SECONDS_PER_DAY)
    begin, end = parameters.measured_range(request, since, until)
    if begin < kept_since and not parameters.AGE.fullmatch(since):
        raise InvalidParameter("since", f"must be within the last {days} days: older deployments are deleted")
    if end <= kept_since:
        raise InvalidParameter("until", f"must be within the last {days} days: older deployments are deleted")
    return max(begin, kept_since), end


def _deployments(environment: Mapping[str, Any], has_time: HasTime) -> tuple[list[Deployed], bool]:
    """All stored deployments: those before the range show which commits were deployed earlier."""
    if not has_time():
        return [], True
    table = require_releases().heads
    key = EnvironmentKey(**{name: environment[name] for name in EnvironmentKey._fields})
    found, truncated = _every(lambda start: table.deployments(key, limit=PAGE, start=start), has_time)
    shas = {each["head_sha"] for each in found if "head_sha" in each and "succeeded_at" in each}
    committed_at = table.commits(key.installation_id, key.repo_full_name, shas)
    deployed = [
        Deployed(
            deployment_id=each["deployment_id"],
            committed_at=committed_at.get(each.get("head_sha", "")),
            **{name: each[name] for name in MEASURED if name in each},
        )
        for each in found
    ]
    return deployed, truncated


def _environments(installation_id: int, repo: str | None, start: Key | None) -> Page[Item]:
    return require_releases().heads.environments(installation_id, repo, limit=PAGE, start=start)


def _every(read: Callable[[Key | None], Page[Item]], has_time: HasTime) -> tuple[list[dict[str, Any]], bool]:
    """The items of all pages, and whether the time ran out before the last page."""
    page = read(None)
    found = page.items
    while page.next_key is not None:
        if not has_time():
            return found, True
        page = read(page.next_key)
        found = found + page.items
    return found, False


def _body(environment: Mapping[str, Any]) -> Any:
    absent = dict.fromkeys(("current", "since", "previous", "latest"))
    unknown = {"is_active": False, "is_rollback": False, "rollback_targets": []}
    marked = is_production(environment["environment"], environment)
    return {**absent, **unknown, **environment, "is_production": marked}
