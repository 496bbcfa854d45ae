"""Keys of the table `releases`. Each begins with the installation, and free text in it is encoded by `key_part`."""

import hashlib
from enum import StrEnum

from runledger.model.releases import HeadKey

LONGEST_PART = 220  # in bytes, so that five parts fit into a sort key, which has at most 1024
BEGINNING = 30  # in characters, of a longer part
# Prefixes of sort keys in the partitions of builds and release lines.
VARIANT, EVENT, DEPENDENT = "variant#", "event#", "dependent#"
# Attributes that only one kind of items has: heads with a colour, environments, and release lines. The feed and the
# filter of its stream recognise items by them.
HEAD_MARK, ENVIRONMENT_MARK, LINE_MARK = "coloured_run_id", "is_rollback", "total_dependents"


class ItemKind(StrEnum):
    """The second part of each partition key. The stacks limit by it which items a function can write."""

    HEADS = "heads"
    BRANCH_HEADS = "branch_heads"
    RUNS = "runs"
    BRANCH_RUNS = "branch_runs"
    COMMITS = "commits"
    ENVIRONMENTS = "environments"
    DEPLOYMENTS = "deployments"
    PACKAGES = "packages"
    REPOSITORY = "repository"
    DEPENDENTS = "dependents"
    VERSIONS = "versions"
    BUILDS = "builds"
    BUILD = "build"
    FILE = "file"
    PACKAGE_HEADS = "package_heads"
    LINES = "lines"
    LINE = "line"
    REBUILD = "rebuild"
    DISPATCHES = "dispatches"


def key_part(text: str) -> str:
    """`#` separates parts, so it is encoded. A long text is replaced by its beginning, `%~` and its digest; `%~`
    occurs in no other part.
    """
    encoded = _encoded(text)
    if len(encoded.encode()) <= LONGEST_PART:
        return encoded
    return f"{_encoded(text[:BEGINNING])}%~{hashlib.sha256(text.encode()).hexdigest()}"


def numbered(number: int) -> str:
    """The sort key of a run or deployment. GitHub's ids grow with time, so this is also their order."""
    return f"{number:020d}"


def heads_key(installation_id: int) -> str:
    """The partition of the heads of default branches."""
    return f"{installation_id}#{ItemKind.HEADS}"


def head_sort(repo_full_name: str, branch: str, workflow_id: int) -> str:
    return f"{head_prefix(repo_full_name, branch)}{workflow_id}"


def head_prefix(repo_full_name: str, branch: str | None = None) -> str:
    """The prefix of the sort keys of a repository's heads and environments, or of a branch's heads."""
    return _joined(repo_full_name, *([branch] if branch is not None else [])) + "#"


def branch_heads_key(installation_id: int, repo_full_name: str) -> str:
    """The partition of the heads of a repository's other branches, which expire."""
    return f"{installation_id}#{ItemKind.BRANCH_HEADS}#{key_part(repo_full_name)}"


def branch_head_sort(branch: str, workflow_id: int) -> str:
    return f"{branch_head_prefix(branch)}{workflow_id}"


def branch_head_prefix(branch: str) -> str:
    return f"{key_part(branch)}#"


def head_runs_key(head: HeadKey) -> str:
    """The partition of the runs of a head."""
    kind = ItemKind.RUNS if head.is_default_branch else ItemKind.BRANCH_RUNS
    return f"{head.installation_id}#{kind}#{_joined(head.repo_full_name, head.branch)}#{head.workflow_id}"


def commits_key(installation_id: int, repo_full_name: str) -> str:
    return f"{installation_id}#{ItemKind.COMMITS}#{key_part(repo_full_name)}"


def environments_key(installation_id: int) -> str:
    return f"{installation_id}#{ItemKind.ENVIRONMENTS}"


def environment_sort(repo_full_name: str, environment: str) -> str:
    return _joined(repo_full_name, environment)


def environment_deployments_key(installation_id: int, repo_full_name: str, environment: str) -> str:
    return f"{installation_id}#{ItemKind.DEPLOYMENTS}#{_joined(repo_full_name, environment)}"


def packages_key(installation_id: int) -> str:
    return f"{installation_id}#{ItemKind.PACKAGES}"


def repository_packages_key(installation_id: int, repo_full_name: str) -> str:
    return f"{installation_id}#{ItemKind.REPOSITORY}#{key_part(repo_full_name)}"


def dependents_key(installation_id: int, name: str) -> str:
    return f"{installation_id}#{ItemKind.DEPENDENTS}#{key_part(name)}"


def versions_key(installation_id: int, name: str) -> str:
    return f"{installation_id}#{ItemKind.VERSIONS}#{key_part(name)}"


def builds_key(installation_id: int, name: str, environment: str) -> str:
    return f"{installation_id}#{ItemKind.BUILDS}#{_joined(name, environment)}"


def build_key(installation_id: int, name: str, environment: str, version: str) -> str:
    """The partition of a build's variants and events."""
    return f"{installation_id}#{ItemKind.BUILD}#{_joined(name, environment, version)}"


def variant_sort(variant: str) -> str:
    return f"{VARIANT}{key_part(variant)}"


def build_event_sort(at: str, event_id: str) -> str:
    return f"{EVENT}{at}#{event_id}"


def file_key(installation_id: int, sha256: str) -> str:
    """The partition of artifacts with the same fingerprint."""
    return f"{installation_id}#{ItemKind.FILE}#{sha256}"


def file_sort(name: str, environment: str, version: str, variant: str, filename: str) -> str:
    return _joined(name, environment, version, variant, filename)


def package_heads_key(installation_id: int, name: str) -> str:
    return f"{installation_id}#{ItemKind.PACKAGE_HEADS}#{key_part(name)}"


def lines_key(installation_id: int) -> str:
    """The partition of pointers to release lines, oldest first."""
    return f"{installation_id}#{ItemKind.LINES}"


def line_pointer_sort(published_at: str, name: str, version: str) -> str:
    return f"{published_at}#{_joined(name, version)}"


def line_key(installation_id: int, name: str, version: str) -> str:
    """The partition of a release line and its dependents. The line itself has the sort key `schema.ONLY`."""
    return f"{installation_id}#{ItemKind.LINE}#{_joined(name, version)}"


def line_dependent_sort(dependent: str) -> str:
    return f"{DEPENDENT}{key_part(dependent)}"


def rebuilds_key(installation_id: int, repo_full_name: str) -> str:
    """The partition of a repository's open rebuilds."""
    return f"{installation_id}#{ItemKind.REBUILD}#{key_part(repo_full_name)}"


def rebuild_sort(name: str, version: str, dependent: str) -> str:
    return _joined(name, version, dependent)


def dispatches_key(installation_id: int) -> str:
    """The partition of the numbers of dispatched workflows, by the hour."""
    return f"{installation_id}#{ItemKind.DISPATCHES}"


def _joined(*parts: str) -> str:
    return "#".join(map(key_part, parts))


def _encoded(text: str) -> str:
    return text.replace("%", "%25").replace("#", "%23")
