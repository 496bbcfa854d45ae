"""Publications: each version of a package is published once, and gets a release line with its dependents.

    version (once) ── latest version ── plan (once) ── dependents ── line and pointer ── rebuild queue ── noted

A repeated publication goes through the same steps, and each step does nothing the second time. So if a process dies in
between, the repetition continues with the stored plan.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from runledger.model import times
from runledger.model.dataclass import dataclass
from runledger.model.errors import ContendedError
from runledger.model.packages import (
    AWAITING_RUN,
    LineKey,
    LineStatus,
    Package,
    Publication,
    PublishedBy,
    RebuildStatus,
)
from runledger.model.releases import RebuildMode
from runledger.model.reports import NO_INSTALLATION
from runledger.releases import graph, names, tags, versions
from runledger.releases.graph import Plan
from runledger.releases.lines import MOST_OPEN, TOLERANCE_SECONDS
from runledger.tables.packages import PackagesTable
from runledger.tables.release_lines import LinesTable

TRIES = 10
NPM = "npm"
# A rebuild usually publishes before its run ends, but the webhook may be late, or another workflow may publish later.
JOIN_SECONDS = 15 * 60
# Limits for chains of releases that trigger each other. A package may be published again while its dependents are
# rebuilt, but a chain that contains it this often is a loop.
MOST_REPEATS, MOST_CAUSES = 3, 30
JOINABLE = (*AWAITING_RUN, RebuildStatus.SUCCEEDED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Publications:
    """`send` puts a line on the rebuild queue."""

    packages: PackagesTable
    lines: LinesTable
    mode: RebuildMode
    send: Callable[[LineKey], None]
    now: Callable[[], str]

    def publish(self, publication: Publication) -> list[LineKey]:
        """Returns the published versions: none if no package of the repository is published by this kind of event."""
        published = [each for each in self._published(publication) if names.is_version(each[1])]
        for package, version in published:
            self._publish(package, version, publication)
        return [LineKey(publication.installation_id, package["name"], version) for package, version in published]

    def _published(self, publication: Publication) -> Iterator[tuple[dict[str, Any], str]]:
        installation_id, source = publication.installation_id, publication.published_by
        name, version = publication.package_name, publication.package_version
        if source is PublishedBy.API:
            package = self.packages.get(installation_id, name) if name else None
            if package and version:
                yield package, version
            return
        if source is PublishedBy.REGISTRY_PACKAGE and publication.ecosystem == NPM and name and names.is_name(name):
            self._create(publication, name)
        listed = self.packages.of_repository(installation_id, publication.repo_full_name)
        found = self.packages.many(installation_id, listed)
        bound = {
            each: item
            for each, item in sorted(found.items())
            if item["published_by"] == source and item["repo_full_name"] == publication.repo_full_name
        }
        if publication.tag:
            for each, tagged in sorted(tags.published_versions(publication.tag, bound).items()):
                yield bound[each], tagged
        elif name and version:
            for each, item in bound.items():
                if name in (each, each.rpartition("/")[2]):
                    yield item, version

    def _create(self, publication: Publication, name: str) -> None:
        """An npm package needs no registration, because the payload has its dependencies. It isn't rebuilt until a
        request sets its workflow.
        """
        self.packages.create(
            Package(
                installation_id=publication.installation_id,
                name=name,
                repo_full_name=publication.repo_full_name,
                published_by=PublishedBy.REGISTRY_PACKAGE,
                dependencies=_dependencies(name, publication),
            ),
            at=self.now(),
        )

    def _publish(self, package: Mapping[str, Any], version: str, publication: Publication) -> None:
        installation_id, name = publication.installation_id, package["name"]
        rebuilds = self._rebuilds_at(package, publication.published_at)
        joined = _joined(rebuilds, name, version)
        _, stored = self.packages.claim_version(
            {
                "installation_id": installation_id,
                "name": name,
                "version": version,
                "published_at": publication.published_at,
                "published_by": publication.published_by,
                "previous_version": self._previous(package, version),
                "joined": list(joined[1:]) if joined else None,
                "after": None if joined else self._after(rebuilds),
                "repo_full_name": publication.repo_full_name,
                "head_sha": publication.head_sha,
                "run_id": publication.run_id,
            }
        )
        self._set_latest(stored)
        self._set_dependencies(stored, publication)
        if stored.get("joined"):
            self.lines.join(LineKey(installation_id, *stored["joined"]), name, version)
            return
        line = LineKey(installation_id, name, version)
        plan = self.lines.plan(line)
        if plan is None and stored.get("has_line"):
            return  # expired
        at = self.now()
        plan = plan or self.lines.put_plan(line, self._plan(line, stored.get("after") or []), at=at)
        for dependent in plan["dependents"]:
            self.lines.put_dependent(line, dependent, at=at)
        self.lines.put_line(line, _line(stored, plan), at=at)
        if plan["mode"] == RebuildMode.ENFORCE and plan["dependents"]:
            self.send(line)
        if "has_line" not in stored:
            self.packages.note_line(installation_id, name, version)

    def _rebuilds_at(self, package: Mapping[str, Any], at: str) -> list[tuple[LineKey, dict[str, Any]]]:
        """The rebuilds that ran in the package's repository at this time, the longest open ones first."""
        installation_id = package["installation_id"]
        opened = self.lines.rebuilds(installation_id, package["repo_full_name"])[-MOST_OPEN:]
        items = [(line, self.lines.dependent(line, name) or {}) for line, name in opened]
        return [(line, item) for line, item in items if _ran_at(item, at)]

    def _after(self, rebuilds: Sequence[tuple[LineKey, Mapping[str, Any]]]) -> list[str] | None:
        """The packages whose releases led to this one: a rebuild can also publish other packages of its repository."""
        causes = {line: self.packages.version(*line) or {} for line, _ in rebuilds}
        chains = [[*cause.get("after", ()), line.name] for line, cause in causes.items()]
        return max(chains, key=len, default=None)

    def _previous(self, package: Mapping[str, Any], version: str) -> str | None:
        """The highest version below this one."""
        latest = package.get("version")
        if latest is None or versions.is_higher(version, latest):
            return latest
        others = self.packages.versions(package["installation_id"], package["name"])
        lower = [each["version"] for each in others if versions.is_higher(version, each["version"])]
        return max(lower, key=versions.order, default=None)

    def _set_latest(self, version: Mapping[str, Any]) -> None:
        installation_id, name = version["installation_id"], version["name"]
        latest = {"version": version["version"], "published_at": version["published_at"]}
        for _ in range(TRIES):
            seen = (self.packages.get(installation_id, name) or {}).get("version")
            if not versions.is_later(version["version"], seen):
                return
            if self.packages.set_latest(installation_id, name, latest=latest, seen=seen):
                return
        raise ContendedError(f"package {name} is being published by another process: try again")

    def _set_dependencies(self, version: Mapping[str, Any], publication: Publication) -> None:
        """Sets the package's dependencies, if the publication has them and is the latest version."""
        if publication.dependencies is None:
            return
        wanted = _dependencies(version["name"], publication)
        for _ in range(TRIES):
            package = self.packages.get(version["installation_id"], version["name"])
            if package is None or package.get("version") != version["version"]:
                return
            is_current = wanted == package["dependencies"] and sorted(wanted) == package["edges"]
            if is_current or self.packages.replace(_package(package, wanted), package, at=self.now()):
                return
        raise ContendedError(f"package {version['name']} is being changed by another process: try again")

    def _plan(self, line: LineKey, after: Sequence[str]) -> dict[str, Any]:
        installation_id = line.installation_id
        known: dict[str, dict[str, Any]] = {}

        def dependents(name: str) -> dict[str, str]:
            listed = self.packages.dependents(installation_id, name, limit=graph.MOST_EDGES + 1)
            if len(listed) > graph.MOST_EDGES:
                raise graph.TooManyDependents
            known.update(self.packages.many(installation_id, [each for each in listed if each not in known]))
            return {
                each: known[each]["dependencies"][name]
                for each in listed
                if each in known and name in known[each]["dependencies"]
            }

        plan = _endless(line.name, after) or graph.plan(
            line.name,
            dependents=dependents,
            includes=lambda wanted: versions.includes(wanted, line.version),
            is_rebuilt=lambda name: "workflow" in known[name],
        )
        # Only a GitHub App can dispatch a workflow.
        mode = RebuildMode.DRY_RUN if installation_id == NO_INSTALLATION else self.mode
        return {"mode": mode, "problem": plan.problem, "dependents": [*_dependents(plan, known, mode)]}


def _ran_at(item: Mapping[str, Any], at: str) -> bool:
    if "dispatched_at" not in item:
        return False
    began, ended = item["dispatched_at"], item.get("completed_at")
    latest = times.later(ended, seconds=JOIN_SECONDS) if ended else times.NEVER
    return times.earlier(began, seconds=TOLERANCE_SECONDS) <= at <= latest


def _joined(rebuilds: Iterable[tuple[LineKey, Mapping[str, Any]]], name: str, version: str) -> LineKey | None:
    """The line whose rebuild published this version. Its plan already contains the packages that depend on it."""
    for line, item in rebuilds:
        is_its_own = item["name"] == name and item.get("dependent_version", version) == version
        if is_its_own and item["status"] in JOINABLE:
            return line
    return None


def _endless(name: str, after: Sequence[str]) -> Plan | None:
    """In a repository with several packages, the rebuild of one may publish others, whose releases rebuild it again."""
    if after.count(name) < MOST_REPEATS and len(after) < MOST_CAUSES:
        return None
    chain = " → ".join([*after, name])
    return Plan(problem=f"Rebuild loop: a rebuild that this package's own release triggered published it: {chain}")


def _dependents(plan: Plan, known: Mapping[str, Mapping[str, Any]], mode: RebuildMode) -> Iterator[dict[str, Any]]:
    for position, step in enumerate(plan.steps):
        package = known[step.name]
        found = {
            "name": step.name,
            "position": position,
            "range": step.wanted,
            "depends_on": list(step.depends_on),
            "repo_full_name": package["repo_full_name"],
            "workflow": package.get("workflow"),
            "ref": package.get("ref"),
            "status": RebuildStatus.PLANNED if mode is RebuildMode.DRY_RUN else RebuildStatus.WAITING,
        }
        if "workflow" not in package:
            found |= {"status": RebuildStatus.SKIPPED, "message": "The package has no workflow to dispatch"}
        yield {name: value for name, value in found.items() if value is not None}


def _dependencies(name: str, publication: Publication) -> dict[str, str]:
    """Omits names that no package in the ledger can have: registries accept more characters."""
    found = publication.dependencies or {}
    return {each: wanted for each, wanted in found.items() if names.is_name(each) and each != name}


def _line(version: Mapping[str, Any], plan: Mapping[str, Any]) -> dict[str, Any]:
    copied = ("previous_version", "published_at", "repo_full_name", "head_sha", "run_id")
    return {
        **{name: version[name] for name in copied if name in version},
        "status": _first_status(plan),
        "mode": plan["mode"],
        "message": plan.get("problem"),
        "total_dependents": len(plan["dependents"]),
        "finished_dependents": 0,
        "failed_dependents": 0,
    }


def _first_status(plan: Mapping[str, Any]) -> LineStatus:
    if plan.get("problem"):
        return LineStatus.REFUSED
    if not plan["dependents"]:
        return LineStatus.PUBLISHED
    return LineStatus.PLANNED if plan["mode"] == RebuildMode.DRY_RUN else LineStatus.REBUILDING


def _package(item: Mapping[str, Any], dependencies: Mapping[str, str]) -> Package:
    return Package(
        installation_id=item["installation_id"],
        name=item["name"],
        repo_full_name=item["repo_full_name"],
        published_by=PublishedBy(item["published_by"]),
        workflow=item.get("workflow"),
        ref=item.get("ref"),
        description=item.get("description"),
        dependencies=dependencies,
        metadata=item.get("metadata", {}),
    )
