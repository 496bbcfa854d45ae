"""The head of an environment: what is deployed there, since when, and the rollback targets. Pure.

An `inactive` deployment can become `success` again, so deployments are ordered by the time of their last success.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from runledger.model.releases import DeploymentState, EnvironmentKey

Item = Mapping[str, Any]

# How many of the newest deployments are read.
MOST_DEPLOYMENTS = 100
MOST_TARGETS = 5
NEEDED = {"installation_id", "deployment_id", "repo_full_name", "environment", "head_sha", "created_at"}
STATE_TIMES = ("succeeded_at", "failed_at", "inactive_at")
DEPLOYMENT_FIELDS = (
    *("deployment_id", "head_sha", "ref", "version", "run_id", "creator", "is_production", "state", "created_at"),
    *STATE_TIMES,
)
# Other changes are about the deployment's approval.
RELEVANT = (*NEEDED, *(name for name in DEPLOYMENT_FIELDS if name != "state"))
# Environments with these names are production, even if GitHub doesn't mark them.
PRODUCTION_NAMES = {"production", "prod", "live"}


def is_counted(deployment: Item) -> bool:
    """`deployment` is an item of deployments. It has no commit if it is known only from its jobs."""
    return deployment.keys() >= NEEDED


def is_changed(before: Item, after: Item) -> bool:
    return any(before.get(name) != after.get(name) for name in RELEVANT)


def key_of(deployment: Item) -> EnvironmentKey:
    return EnvironmentKey(deployment["installation_id"], deployment["repo_full_name"], deployment["environment"])


def deployment_values(deployment: Item) -> dict[str, Any]:
    """The attributes to store. A deployment's times only grow, so its latest time serves as its revision."""
    values = {name: deployment[name] for name in DEPLOYMENT_FIELDS if name in deployment}
    return {**values, "state": state_of(values), "revision": last_changed_at(values)}


def last_changed_at(deployment: Item) -> str:
    return max(str(deployment[name]) for name in ("created_at", *STATE_TIMES) if name in deployment)


def state_of(deployment: Item) -> DeploymentState:
    succeeded, failed, inactive = (deployment.get(name, "") for name in STATE_TIMES)
    if inactive and inactive >= max(succeeded, failed):
        return DeploymentState.INACTIVE
    if failed and failed >= succeeded:
        return DeploymentState.FAILURE
    return DeploymentState.SUCCESS if succeeded else DeploymentState.PENDING


def computed(rows: Iterable[Item], stored: Item | None) -> dict[str, Any] | None:
    """Computes the head from the newest deployments. The `stored` head stands for older ones. None without either."""
    found = {each["deployment_id"]: each for each in (*_remembered(stored or {}), *map(deployment_of, rows))}
    if not found:
        return None
    latest = found[max(found)]
    succeeded = sorted(
        (each for each in found.values() if "succeeded_at" in each),
        key=lambda each: (each["succeeded_at"], each["deployment_id"]),
        reverse=True,
    )
    flagged = [found[number] for number in sorted(found, reverse=True) if "is_production" in found[number]]
    head = {"latest": latest, **({"is_production": flagged[0]["is_production"]} if flagged else {})}
    if not succeeded:
        return head | {"is_active": False, "is_rollback": False, "rollback_targets": []}
    current, *earlier = succeeded
    targets = _targets(current, earlier)
    return {
        **head,
        "current": current,
        "since": current["succeeded_at"],
        "is_active": current.get("inactive_at", "") < current["succeeded_at"],
        "is_rollback": _is_rollback(current, earlier),
        "rollback_targets": targets,
        **({"previous": targets[0]} if targets else {}),
    }


def is_production(environment: str, head: Item) -> bool:
    return bool(head.get("is_production")) or environment.casefold() in PRODUCTION_NAMES


def deployment_of(row: Item) -> dict[str, Any]:
    return {name: row[name] for name in DEPLOYMENT_FIELDS if name in row}


def _remembered(head: Item) -> list[Item]:
    single = (head[name] for name in ("latest", "previous", "current") if name in head)
    return [*head.get("rollback_targets", ()), *single]


def _targets(current: Item, earlier: Sequence[Item]) -> list[Item]:
    """The last deployment of each other commit, newest first."""
    by_commit: dict[str, Item] = {}
    for each in earlier:
        by_commit.setdefault(each["head_sha"], each)
    by_commit.pop(current["head_sha"], None)
    return list(by_commit.values())[:MOST_TARGETS]


def _is_rollback(current: Item, earlier: Sequence[Item]) -> bool:
    """Whether its commit was deployed before, and then another commit.

    A deployment that became active again has only the time of its last success. It is a rollback if a newer deployment
    of another commit has succeeded.
    """
    others = [each for each in earlier if each["head_sha"] != current["head_sha"]]
    if "inactive_at" in current and any(each["deployment_id"] > current["deployment_id"] for each in others):
        return True
    commits = [each["head_sha"] for each in earlier]
    return bool(others) and current["head_sha"] in commits[commits.index(others[0]["head_sha"]) :]
