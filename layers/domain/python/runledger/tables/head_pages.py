"""releases: what the API reads of heads, runs, environments and deployments."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from runledger.tables import release_keys, schema
from runledger.tables.attributes import from_attributes
from runledger.tables.pages import ALWAYS, Key, Partition, Span, beginning_with
from runledger.tables.table import Table

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

Item = Mapping[str, Any]
# DynamoDB ends a page at 1 MB in any case. Smaller ones let a reader stop in time.
PAGE = 500


class HeadPages:
    def __init__(self, client: "DynamoDBClient", name: str) -> None:
        self._table = Table(client, name, label="releases")

    def heads(
        self, installation_id: int, repo_full_name: str | None, branch: str | None, *, limit: int, start: Key | None
    ) -> tuple[list[Item], Key | None]:
        """Of default branches: all of them, those of a repository, or of one branch if it is the default branch."""
        span = beginning_with(release_keys.head_prefix(repo_full_name, branch)) if repo_full_name else ALWAYS
        partition = Partition(value=release_keys.heads_key(installation_id))
        return self._page(partition, span, limit=limit, start=start)

    def branch_heads(
        self, installation_id: int, repo_full_name: str, branch: str | None, *, limit: int, start: Key | None
    ) -> tuple[list[Item], Key | None]:
        """Of a repository's other branches."""
        span = beginning_with(f"{release_keys.key_part(branch)}#") if branch is not None else ALWAYS
        partition = Partition(value=release_keys.branch_heads_key(installation_id, repo_full_name))
        return self._page(partition, span, limit=limit, start=start)

    def is_of_branches(self, key: Key, installation_id: int, repo_full_name: str) -> bool:
        """Whether a page that begins after `key` has heads of branches that aren't the default branch."""
        return key[schema.PARTITION] == release_keys.branch_heads_key(installation_id, repo_full_name)

    def runs(self, installation_id: int, head: Item, *, limit: int) -> list[Item]:
        """The newest ones of a head."""
        where = (installation_id, head["repo_full_name"], head["branch"], head["workflow_id"])
        found = self._table.page(Partition(value=release_keys.head_runs_key(*where)), limit=limit)
        return [from_attributes(item) for item in found.items]

    def commit_times(self, installation_id: int, repo_full_name: str, shas: Iterable[str]) -> Mapping[str, str]:
        """Unknown ones are omitted."""
        partition = release_keys.commits_key(installation_id, repo_full_name)
        found = self._table.by_key((partition, sha) for sha in shas)
        return {sha: item["committed_at"]["S"] for (_, sha), item in found.items() if "committed_at" in item}

    def environments(
        self, installation_id: int, repo_full_name: str | None, *, limit: int, start: Key | None
    ) -> tuple[list[Item], Key | None]:
        span = beginning_with(release_keys.head_prefix(repo_full_name)) if repo_full_name else ALWAYS
        partition = Partition(value=release_keys.environments_key(installation_id))
        return self._page(partition, span, limit=limit, start=start)

    def environment(self, installation_id: int, repo_full_name: str, environment: str) -> Item | None:
        return self._table.read(
            {
                schema.PARTITION: release_keys.environments_key(installation_id),
                schema.SORT: release_keys.environment_sort(repo_full_name, environment),
            },
            consistent=False,
        )

    def every_environment(
        self, installation_id: int, repo_full_name: str | None, *, has_time: Callable[[], bool]
    ) -> tuple[list[Item], bool]:
        """All of them, and whether time ended before all were read."""
        pages = self._pages(lambda start: self.environments(installation_id, repo_full_name, limit=PAGE, start=start))
        return _while_time(pages, has_time)

    def deployments(
        self, installation_id: int, repo_full_name: str, environment: str, *, limit: int, start: Key | None
    ) -> tuple[list[Item], Key | None]:
        """Newest first."""
        where = release_keys.environment_deployments_key(installation_id, repo_full_name, environment)
        return self._page(Partition(value=where), ALWAYS, limit=limit, start=start, newest_first=True)

    def every_deployment(
        self, installation_id: int, repo_full_name: str, environment: str, *, has_time: Callable[[], bool]
    ) -> tuple[list[Item], bool]:
        where = (installation_id, repo_full_name, environment)
        pages = self._pages(lambda start: self.deployments(*where, limit=PAGE, start=start))
        return _while_time(pages, has_time)

    def _page(
        self, partition: Partition, span: Span, *, limit: int, start: Key | None, newest_first: bool = False
    ) -> tuple[list[Item], Key | None]:
        found = self._table.page(partition, span, newest_first=newest_first, limit=limit, start=start)
        return [from_attributes(item) for item in found.items], found.next_key

    def _pages(self, read: Callable[[Key | None], tuple[list[Item], Key | None]]) -> Iterator[tuple[list[Item], bool]]:
        """Each with whether another one follows."""
        items, start = read(None)
        yield items, start is not None
        while start is not None:
            items, start = read(start)
            yield items, start is not None


def _while_time(pages: Iterable[tuple[list[Item], bool]], has_time: Callable[[], bool]) -> tuple[list[Item], bool]:
    found = list[Item]()
    for items, more in pages:
        found += items
        if more and not has_time():
            return found, True
    return found, False
