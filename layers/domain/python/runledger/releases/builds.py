"""Builds: publishers' reports about a version of a package in an environment, and the newest complete build."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from runledger.model.dataclass import dataclass
from runledger.model.errors import ContendedError
from runledger.model.packages import BuildKey, BuildStatus
from runledger.releases.build_reports import DEFAULT_VARIANT, BuildReport
from runledger.tables.builds import COMPLETED, FAILED, TOTAL, BuildsTable

# The newest complete build and those before it.
KEPT_IN_HEAD = 6
TRIES = 20
LENGTH_OF_EVENT_ID = 16
SHOWN = (
    *("installation_id", "name", "version", "environment", "created_at", "updated_at", "completed_at"),
    *("previous_version", "run_id", "head_sha", "repo_full_name"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Builds:
    table: BuildsTable
    now: Callable[[], str]

    def report(self, installation_id: int, report: BuildReport) -> dict[str, Any]:
        """The build after the report. Publishers repeat a report that failed, and nothing is counted twice."""
        at = self.now()
        build = BuildKey(installation_id, report.name, report.environment, report.version)
        artifacts = [_without_none(asdict(each)) for each in report.artifacts]
        about = {"message": report.message, "details": report.details, "artifacts": artifacts}
        variant = {"status": report.status, "run_id": report.run_id, **about}
        reported_at = self.table.put_variant(build, report.variant, variant, report=_digest(report), at=at)
        for artifact in artifacts:
            self.table.put_file(build, report.variant, artifact, at=reported_at)
        event = {"variant": report.variant, **variant}
        self.table.put_event(build, _digest(report), event, at=reported_at)
        item = self.table.record(
            build,
            report.variant,
            report.status,
            total=_total(report),
            at=at,
            about={"run_id": report.run_id, "head_sha": report.head_sha, "repo_full_name": report.repo_full_name},
        )
        if item.get("created_at") == at:
            self.table.register(build)
        return shown(self._completed(build, item) if _is_complete(item) else item)

    def _completed(self, build: BuildKey, item: Mapping[str, Any]) -> Mapping[str, Any]:
        """Safe to repeat, because a process may die before it saves the head."""
        if "completed_at" not in item:
            head = self.table.head(build.installation_id, build.name, build.environment)
            before = [each["version"] for each in (head or {}).get("builds", ()) if _rank(each) < _rank(item)]
            self.table.complete(build, at=self.now(), previous_version=before[0] if before else None)
            item = self.table.get(build) or item
        self._save_head(build, item)
        return item

    def _save_head(self, build: BuildKey, item: Mapping[str, Any]) -> None:
        for _ in range(TRIES):
            head = self.table.head(build.installation_id, build.name, build.environment) or {}
            builds = newest([*head.get("builds", ()), _in_head(item)])
            if builds == head.get("builds") or self.table.save_head(build, _head(builds), seen=head.get("revision")):
                return
        raise ContendedError(
            f"the head of {build.name} in {build.environment} is being changed by another process: try again"
        )


def shown(item: Mapping[str, Any]) -> dict[str, Any]:
    """A build as the API shows it."""
    completed, failed = len(item.get(COMPLETED, ())), len(item.get(FAILED, ()))
    total = _known_total(item)
    return {
        **{name: item.get(name) for name in SHOWN},
        "status": _status(item),
        "total_variants": total,
        "completed_variants": completed,
        "failed_variants": failed,
        "progress": round(completed / total, 4) if total else None,
        "error": failed > 0,
    }


def newest(builds: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The newest complete builds, each version once. The order in which they were completed doesn't matter."""
    by_version = {each["version"]: dict(each) for each in sorted(builds, key=_rank)}
    return sorted(by_version.values(), key=_rank, reverse=True)[:KEPT_IN_HEAD]


def _status(item: Mapping[str, Any]) -> BuildStatus:
    if "completed_at" in item:
        return BuildStatus.COMPLETED
    return BuildStatus.FAILED if item.get(FAILED) else BuildStatus.BUILDING


def _total(report: BuildReport) -> int | None:
    """One if only the default variant is reported."""
    if report.variants is None and report.variant == DEFAULT_VARIANT:
        return 1
    return report.variants


def _digest(report: BuildReport) -> str:
    """The same for a repeated report."""
    text = json.dumps(asdict(report), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:LENGTH_OF_EVENT_ID]


def _without_none(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _known_total(item: Mapping[str, Any]) -> int | None:
    """At least the number of reported variants, because a publisher may have reported too small a total."""
    if TOTAL not in item:
        return None
    return max(int(item[TOTAL]), len({*item.get(COMPLETED, ()), *item.get(FAILED, ())}))


def _is_complete(item: Mapping[str, Any]) -> bool:
    return TOTAL in item and len(item.get(COMPLETED, ())) >= item[TOTAL]


def _rank(build: Mapping[str, Any]) -> tuple[str, str]:
    """Builds are ordered by their first report, so a slow build never replaces a newer one."""
    return build["created_at"], build["version"]


def _in_head(item: Mapping[str, Any]) -> dict[str, Any]:
    named = ("version", "created_at", "completed_at", "run_id", "head_sha")
    return {name: item[name] for name in named if item.get(name) is not None}


def _head(builds: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    current, *before = builds
    return {
        "builds": list(builds),
        "version": current["version"],
        "completed_at": current.get("completed_at"),
        "run_id": current.get("run_id"),
        "head_sha": current.get("head_sha"),
        "previous_version": before[0]["version"] if before else None,
        "rollback_versions": [each["version"] for each in before],
    }
