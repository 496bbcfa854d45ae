"""releases: heads of branches and environments, and the runs and deployments that they are computed from.

A head is written only if its version is unchanged: the slower of two writers computes it again.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from runledger.model import times
from runledger.model.releases import EnvironmentKey, HeadKey
from runledger.tables import release_keys, schema
from runledger.tables.attributes import from_attributes, is_condition_failure, to_attributes
from runledger.tables.pages import ALWAYS, Item, Key, Page, Partition, Span, beginning_with
from runledger.tables.table import Table

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

NOT_OLDER = "attribute_not_exists(#revision) OR #revision <= :revision"
NOT_COLOURED_LATER = "attribute_not_exists(#coloured_attempt) OR #coloured_attempt < :coloured_attempt"
NEW = "attribute_not_exists(#version)"
UNCHANGED = "#version = :version"
EXPIRES_LATER = f"attribute_not_exists(#{schema.EXPIRY}) OR #{schema.EXPIRY} < :{schema.EXPIRY}"
COLOUR = ("colour", "coloured_attempt", "coloured_at")
ONLY_WHEN_COMPLETED = ("conclusion", "completed_at")
RUNS_IN_A_PAGE = 25


class HeadsTable:
    def __init__(self, client: "DynamoDBClient", name: str, *, retention_days: int) -> None:
        self._table = Table(client, name, label="releases")
        self._retention_days = retention_days

    # Written by the recorder

    def put_run(self, head: HeadKey, run: Mapping[str, Any], *, at: str) -> Item | None:
        """Returns the stored run. None if it is unknown: DynamoDB Local returns no item if a condition fails.

        Attempts of a run are reported in any order. A late report may be about the newest attempt with a colour.
        """
        key = _key(release_keys.head_runs_key(head), release_keys.numbered(run["run_id"]))
        is_newest, row = self._table.update_or_read(
            key,
            put={**run, schema.EXPIRY: self._expiry(at)},
            remove=[name for name in ONLY_WHEN_COMPLETED if name not in run],
            condition=NOT_OLDER,
            returning="ALL_NEW",
        )
        if not is_newest and "colour" in run:
            colour = {name: run[name] for name in COLOUR}
            _, row = self._table.update_or_read(key, put=colour, condition=NOT_COLOURED_LATER, returning="ALL_NEW")
        return row or None

    def put_commit(self, installation_id: int, repo_full_name: str, sha: str, *, committed_at: str, at: str) -> None:
        key = _key(release_keys.commits_key(installation_id, repo_full_name), sha)
        put = {"committed_at": committed_at, schema.EXPIRY: self._expiry(at)}
        self._table.update_if(key, put=put, condition=EXPIRES_LATER)

    def put_deployment(self, environment: EnvironmentKey, deployment: Mapping[str, Any]) -> None:
        self._table.update_if(
            _key(
                release_keys.environment_deployments_key(*environment),
                release_keys.numbered(deployment["deployment_id"]),
            ),
            put={**deployment, schema.EXPIRY: self._expiry(deployment["revision"])},
            condition=NOT_OLDER,
        )

    def newest_runs(self, head: HeadKey) -> Iterator[Item]:
        """Newest first, read page by page as far as they are needed."""
        partition, start = Partition(value=release_keys.head_runs_key(head)), None
        while True:
            page = self._table.page(partition, limit=RUNS_IN_A_PAGE, start=start, consistent=True)
            yield from map(from_attributes, page.items)
            if (start := page.next_key) is None:
                return

    def newest_deployments(self, environment: EnvironmentKey, *, limit: int) -> list[Item]:
        partition = Partition(value=release_keys.environment_deployments_key(*environment))
        return [from_attributes(each) for each in self._table.page(partition, limit=limit, consistent=True).items]

    def some_deployments(self, environment: EnvironmentKey, deployment_ids: Iterable[int]) -> list[Item]:
        partition = release_keys.environment_deployments_key(*environment)
        found = (self._table.read(_key(partition, release_keys.numbered(each))) for each in deployment_ids)
        return [each for each in found if each]

    def head(self, head: HeadKey) -> Item | None:
        found = self._table.read(_head_key(head))
        return _whole(found) if found else None

    def environment(self, environment: EnvironmentKey) -> Item | None:
        return self._table.read(_environment_key(environment))

    def save_head(
        self, key: HeadKey, head: Mapping[str, Any], *, version: int, expires_after: str | None = None
    ) -> bool:
        """False if another writer was faster. `version` is the previous version of the head; 0 if there was none."""
        return self._save({**_compact(head), **key._asdict(), **_head_key(key)}, version, expires_after)

    def save_environment(
        self, key: EnvironmentKey, head: Mapping[str, Any], *, version: int, expires_after: str | None = None
    ) -> bool:
        return self._save({**head, **key._asdict(), **_environment_key(key)}, version, expires_after)

    # Read by the API

    def default_heads(
        self, installation_id: int, repo_full_name: str | None = None, *, limit: int, start: Key | None = None
    ) -> Page[Item]:
        """Heads of default branches, by repository. A page contains whole repositories, so it may exceed `limit`.

        Heads of a former default branch, such as a renamed one, are omitted.
        """
        span = beginning_with(release_keys.head_prefix(repo_full_name)) if repo_full_name else ALWAYS
        partition, found = Partition(value=release_keys.heads_key(installation_id)), list[Item]()
        while True:
            page = self._table.page(partition, span, newest_first=False, limit=limit, start=start)
            found += map(_whole, map(from_attributes, page.items))
            if page.next_key is None:
                return Page(items=_of_default_branches(found), next_key=None)
            last = found[-1]["repo_full_name"]
            if whole := [each for each in found if each["repo_full_name"] != last]:
                ended_at = {name: whole[-1][name] for name in (schema.PARTITION, schema.SORT)}
                return Page(items=_of_default_branches(whole), next_key=ended_at)
            start = page.next_key

    def branch_heads(
        self,
        installation_id: int,
        repo_full_name: str,
        branch: str | None = None,
        *,
        limit: int,
        start: Key | None = None,
    ) -> Page[Item]:
        """Heads of the other branches of a repository."""
        partition = Partition(value=release_keys.branch_heads_key(installation_id, repo_full_name))
        span = ALWAYS if branch is None else beginning_with(release_keys.branch_head_prefix(branch))
        return self._page(partition, span, limit=limit, start=start)

    def runs(self, head: HeadKey, *, limit: int, start: Key | None = None) -> Page[Item]:
        """Newest first."""
        partition = Partition(value=release_keys.head_runs_key(head))
        return self._page(partition, limit=limit, start=start, newest_first=True)

    def environments(
        self, installation_id: int, repo_full_name: str | None = None, *, limit: int, start: Key | None = None
    ) -> Page[Item]:
        span = beginning_with(release_keys.head_prefix(repo_full_name)) if repo_full_name else ALWAYS
        partition = Partition(value=release_keys.environments_key(installation_id))
        return self._page(partition, span, limit=limit, start=start)

    def deployments(
        self, environment: EnvironmentKey, *, limit: int, start: Key | None = None, since: str | None = None
    ) -> Page[Item]:
        """Newest first. With `since`, the pages end at the first deployment that was created earlier."""
        partition = Partition(value=release_keys.environment_deployments_key(*environment))
        page = self._page(partition, limit=limit, start=start, newest_first=True)
        recent = [each for each in page.items if since is None or each["created_at"] >= since]
        is_last = len(recent) < len(page.items)
        return Page(items=recent, next_key=None if is_last else page.next_key)

    def commits(self, installation_id: int, repo_full_name: str, shas: Iterable[str]) -> dict[str, str]:
        """The time of each commit. Missing ones are omitted."""
        partition = release_keys.commits_key(installation_id, repo_full_name)
        found = self._table.by_key((partition, sha) for sha in shas)
        return {sha: item["committed_at"]["S"] for (_, sha), item in found.items()}

    def _page(
        self, partition: Partition, span: Span = ALWAYS, *, limit: int, start: Key | None, newest_first: bool = False
    ) -> Page[Item]:
        page = self._table.page(partition, span, newest_first=newest_first, limit=limit, start=start)
        return Page(items=[_whole(from_attributes(each)) for each in page.items], next_key=page.next_key)

    def _save(self, item: Item, version: int, expires_after: str | None) -> bool:
        expiry = {schema.EXPIRY: self._expiry(expires_after)} if expires_after else {}
        given = {"ExpressionAttributeValues": to_attributes({":version": version})} if version else {}
        try:
            self._table.put(
                to_attributes({**item, "version": version + 1, **expiry}),
                ConditionExpression=UNCHANGED if version else NEW,
                ExpressionAttributeNames={"#version": "version"},
                **given,
            )
        except ClientError as error:
            if not is_condition_failure(error):
                raise
            return False
        return True

    def _expiry(self, at: str) -> int:
        return times.expiry(at, self._retention_days)


def _of_default_branches(heads: Iterable[Item]) -> list[Item]:
    """A repository has one default branch: the one with the newest run."""
    found: list[Item] = []
    for _, group in groupby(heads, key=lambda head: head["repo_full_name"]):
        of_repository = list(group)
        newest = max(of_repository, key=lambda head: int(head["last_run"]["run_id"]))
        found += [head for head in of_repository if head["branch"] == newest["branch"]]
    return found


def _compact(head: Mapping[str, Any]) -> Item:
    """The last run of a green head is also its last green run.

    It is stored once, so a head fits into one write unit.
    """
    values = dict(head)
    if values.get("last_green_run") == values["last_run"]:
        del values["last_green_run"]
        values["last_run_is_green"] = True
    return values


def _whole(item: Item) -> Item:
    if item.pop("last_run_is_green", False):
        item["last_green_run"] = item["last_run"]
    return item


def _head_key(head: HeadKey) -> dict[str, str]:
    if head.is_default_branch:
        partition = release_keys.heads_key(head.installation_id)
        return _key(partition, release_keys.head_sort(head.repo_full_name, head.branch, head.workflow_id))
    partition = release_keys.branch_heads_key(head.installation_id, head.repo_full_name)
    return _key(partition, release_keys.branch_head_sort(head.branch, head.workflow_id))


def _environment_key(environment: EnvironmentKey) -> dict[str, str]:
    partition = release_keys.environments_key(environment.installation_id)
    return _key(partition, release_keys.environment_sort(environment.repo_full_name, environment.environment))


def _key(partition: str, sort: str) -> dict[str, str]:
    return {schema.PARTITION: partition, schema.SORT: sort}
