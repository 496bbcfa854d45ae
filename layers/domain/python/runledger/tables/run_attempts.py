"""Attempts of a run. No index has them, but attempts are numbered from 1, so their keys can be read directly."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from runledger.model.keys import RunKey
from runledger.tables import schema
from runledger.tables.attributes import from_attributes
from runledger.tables.table import Table

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

# Half a read unit each, whether it exists or not: most runs have one attempt, and few have more than three.
ATTEMPTS_AT_ONCE = 3
# The ledger may have been deployed during a run, so early attempts may be missing. An absent run costs this many reads.
ATTEMPTS_AT_LEAST = 30


class RunAttempts:
    def __init__(self, client: "DynamoDBClient", name: str) -> None:
        self._table = Table(client, name)

    def of(self, installation_id: int, run_id: int) -> dict[int, dict[str, Any]]:
        """By their numbers, lowest first."""
        found = self._known(installation_id, run_id, range(1, 1 + ATTEMPTS_AT_ONCE))
        first = 1 + ATTEMPTS_AT_ONCE
        if not found:
            found = self._known(installation_id, run_id, range(first, 1 + ATTEMPTS_AT_LEAST))
            first = 1 + ATTEMPTS_AT_LEAST
        while max(found, default=0) >= first - ATTEMPTS_AT_ONCE:
            found |= self._known(installation_id, run_id, range(first, first + ATTEMPTS_AT_ONCE))
            first += ATTEMPTS_AT_ONCE
        return found

    def first_known(
        self, installation_ids: Iterable[int], run_id: int, *, repo_full_name: str | None = None
    ) -> int | None:
        """Which of these installations has the run. Later attempts are read only if none has an early one.

        Anyone who may send webhooks for some repository can name any run's id: so the repository is compared as well.
        """
        known = tuple(installation_ids)
        for attempts in (range(1, 3), range(3, 1 + ATTEMPTS_AT_LEAST)):
            keys = {_key(RunKey(each, run_id, attempt)): each for each in known for attempt in attempts}
            found = self._read(keys)
            owner = next((keys[key] for key in keys if key in found and _is_of(repo_full_name, found[key])), None)
            if owner is not None:
                return owner
        return None

    def _known(self, installation_id: int, run_id: int, attempts: range) -> dict[int, dict[str, Any]]:
        keys = {
            (schema.run_key(RunKey(installation_id, run_id, attempt)), schema.ONLY): attempt for attempt in attempts
        }
        found = self._read(keys)
        return {attempt: found[key] for key, attempt in keys.items() if key in found}

    def _read(self, keys: Iterable[tuple[str, str]]) -> Mapping[tuple[str, str], dict[str, Any]]:
        """Omits items without a status: they hold only a claim, or a note that GitHub has no such run."""
        items = self._table.by_key(keys)
        return {key: from_attributes(item) for key, item in items.items() if "status" in item}


def _key(run: RunKey) -> tuple[str, str]:
    return schema.run_key(run), schema.ONLY


def _is_of(repo_full_name: str | None, run: Mapping[str, Any]) -> bool:
    return repo_full_name is None or run.get("repo_full_name") == repo_full_name
