"""Records changes of runs and deployments, and updates their heads.

    put the run or deployment ── read the head ── compute it ── write it if its version is unchanged

After a crash, Lambda repeats the batch: the run is stored already, and the head is computed. If another writer was
faster, the head is computed again.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from runledger.model.dataclass import dataclass
from runledger.model.errors import ContendedError
from runledger.model.releases import EnvironmentKey, HeadKey
from runledger.releases import environments, heads
from runledger.tables import schema
from runledger.tables.heads import HeadsTable

Item = Mapping[str, Any]
TRIES = 20
KEYS = {schema.PARTITION, schema.SORT, schema.EXPIRY, *HeadKey._fields, *EnvironmentKey._fields}
NOT_COMPUTED = {*KEYS, "version"}


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadRecorder:
    table: HeadsTable

    def record_runs(self, runs: Iterable[Item]) -> None:
        """Items of workflow_runs, in any order. Stores only the last of several reports about an attempt."""
        newest: dict[tuple[HeadKey, int, int], Item] = {}
        for run in filter(heads.is_counted, runs):
            identity = (heads.key_of(run), run["run_id"], run["run_attempt"])
            if identity not in newest or heads.revision(newest[identity]) <= heads.revision(run):
                newest[identity] = run
        changed: dict[HeadKey, list[Item | None]] = {}
        for (key, _, _), run in newest.items():
            changed.setdefault(key, []).append(self._put_run(key, run))
        for key, rows in changed.items():
            self._update_head(key, rows)

    def record_deployments(self, deployments: Iterable[Item]) -> None:
        """Items of deployments, in any order."""
        changed: dict[EnvironmentKey, set[int]] = {}
        for deployment in filter(environments.is_counted, deployments):
            key = environments.key_of(deployment)
            self.table.put_deployment(key, environments.deployment_values(deployment))
            changed.setdefault(key, set()).add(deployment["deployment_id"])
        for key, numbers in changed.items():
            self._update_environment(key, numbers)

    def _put_run(self, key: HeadKey, run: Item) -> Item | None:
        values, at = heads.run_values(run), heads.ended_at(run)
        if "completed_at" in values and "head_committed_at" in run and "head_sha" in run:
            # Only for completed runs, which saves a write for each earlier report. A commit is deployed after its run.
            self.table.put_commit(
                key.installation_id,
                key.repo_full_name,
                run["head_sha"],
                committed_at=run["head_committed_at"],
                at=at,
            )
        return self.table.put_run(key, values, at=at)

    def _update_head(self, key: HeadKey, rows: list[Item | None]) -> None:
        for _ in range(TRIES):
            stored = self.table.head(key)
            head = _advanced(stored, rows) or heads.computed(self.table.newest_runs(key), stored)
            if head is None or (stored and _content(head) == _content(stored)):
                return
            last = head["last_run"]
            expires_after = None if key.is_default_branch else last.get("completed_at") or last["created_at"]
            if self.table.save_head(key, _content(head), version=_version(stored), expires_after=expires_after):
                return
        raise _contended(f"head {key.repo_full_name} {key.branch}")

    def _update_environment(self, key: EnvironmentKey, changed: Iterable[int]) -> None:
        for _ in range(TRIES):
            stored = self.table.environment(key)
            rows = self.table.newest_deployments(key, limit=environments.MOST_DEPLOYMENTS)
            # An old deployment can become active or inactive even if many newer ones exist.
            older = [number for number in changed if rows and number < rows[-1]["deployment_id"]]
            head = environments.computed([*rows, *self.table.some_deployments(key, older)], stored)
            if head is None or (stored and _content(head) == _content(stored)):
                return
            is_kept = head["is_active"] or environments.is_production(key.environment, head)
            expires_after = None if is_kept else environments.last_changed_at(head["latest"])
            if self.table.save_environment(key, head, version=_version(stored), expires_after=expires_after):
                return
        raise _contended(f"environment {key.repo_full_name} {key.environment}")


def _advanced(stored: Item | None, rows: Iterable[Item | None]) -> dict[str, Any] | None:
    """None if the head must be computed from all its runs."""
    head = stored
    for row in sorted((row or {} for row in rows), key=lambda row: row.get("run_id", 0)):
        if head is None or not row:
            return None
        head = heads.advanced(head, row)
    return dict(head) if head else None


def _contended(name: str) -> ContendedError:
    return ContendedError(f"gave up on the {name} after {TRIES} concurrent changes")


def _version(stored: Item | None) -> int:
    return int(stored["version"]) if stored else 0


def _content(head: Item) -> dict[str, Any]:
    """The computed attributes of a head."""
    return {name: value for name, value in head.items() if name not in NOT_COMPUTED}
