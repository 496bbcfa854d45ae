"""A package is released: its dependents are rebuilt in dependency order, and the last one fails."""

from __future__ import annotations

import hashlib
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from local.demo.payloads.entities import workflow_id
from local.demo.payloads.parts import timestamp
from local.demo.payloads.publications import release_published
from local.demo.scenarios.releases import ADMIN, CHECKOUT, FORMS, UI
from local.github.records import Workflow
from local.processes import LocalError

if TYPE_CHECKING:
    from local.demo.api import Api
    from local.demo.payloads.entities import Repository
    from local.github.control import Control

PACKAGE, VERSION, VERSION_BEFORE = "@acme/ui", "1.5.0", "1.4.0"
# Builds by environment: all variants, and those that are complete.
VARIANTS = ("esm", "cjs", "umd")
BUILDS = {"npm": VARIANTS, "cdn": VARIANTS[:2]}
_WORKFLOW = "release.yml"
_TIMEOUT_SECONDS = 120
_POLL_SECONDS = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependent:
    """`version` is what a successful rebuild publishes."""

    name: str
    repository: Repository
    dependencies: Mapping[str, str]
    conclusion: str
    version: str | None = None


DEPENDENTS = (
    Dependent(
        name="@acme/forms",
        repository=FORMS,
        dependencies={PACKAGE: "^1.2.0"},
        conclusion="success",
        version="3.1.1",
    ),
    Dependent(
        name="@acme/admin",
        repository=ADMIN,
        dependencies={PACKAGE: "^1.0.0"},
        conclusion="success",
        version="1.8.1",
    ),
    Dependent(
        name="@acme/checkout",
        repository=CHECKOUT,
        dependencies={PACKAGE: "^1.4.0", "@acme/forms": "^3.0.0"},
        conclusion="failure",
    ),
)


def publish_previous_version(api: Api) -> None:
    """Publish the version before, while no package depends on it. The queue handles it while the reconciler runs."""
    api.put("packages", PACKAGE, repo_full_name=UI.full_name, published_by="release", description="Design system")
    api.put("packages", PACKAGE, "versions", VERSION_BEFORE)


def release(api: Api, github: Control) -> None:
    """Returns when all rebuilds have ended and their versions are published."""
    _wait(f"{PACKAGE} {VERSION_BEFORE} wasn't published", lambda: api.get("releases", PACKAGE, VERSION_BEFORE))
    for each in DEPENDENTS:
        github.put(_workflow(each))
        api.put(
            "packages",
            each.name,
            repo_full_name=each.repository.full_name,
            published_by="api",
            workflow=_WORKFLOW,
            dependencies=each.dependencies,
        )
    _report_builds(api)
    sent = release_published(UI, f"v{VERSION}", datetime.now(UTC))
    row = github.send("release", sent, str(uuid.uuid4()))
    if row["status_code"] != 202:
        raise LocalError(f"the release of {PACKAGE} got the response {row['status_code']}: {row['status']}")
    _wait(f"the rebuilds of {PACKAGE} {VERSION} didn't end", lambda: _line(api).get("completed_at"))
    for each in DEPENDENTS:
        if each.version:
            api.put("packages", each.name, "versions", each.version)
    _wait("the rebuilt versions weren't published", lambda: _versions(api) == [each.version for each in DEPENDENTS])


def _report_builds(api: Api) -> None:
    for environment, completed in BUILDS.items():
        for variant in VARIANTS:
            name = f"ui-{VERSION}.{variant}.js"
            artifact = {
                "name": name,
                "url": f"https://{environment}.example.com/{name}",
                "sha256": hashlib.sha256(name.encode()).hexdigest(),
                "size": 48_000 + 100 * len(name),
            }
            about = {"environment": environment, "variant": variant, "variants": len(VARIANTS)}
            if variant in completed:
                api.put("builds", PACKAGE, VERSION, **about, status="completed", artifacts=[artifact])
            else:
                api.put("builds", PACKAGE, VERSION, **about, status="started")


def _line(api: Api) -> dict[str, Any]:
    return api.get("releases", PACKAGE, VERSION) or {}


def _versions(api: Api) -> list[str | None]:
    found = {each["name"]: each.get("dependent_version") for each in _line(api)["dependents"]}
    return [found[each.name] for each in DEPENDENTS]


def _workflow(dependent: Dependent) -> Workflow:
    return Workflow(
        id=workflow_id(dependent.repository, _WORKFLOW),
        repository=dependent.repository.full_name,
        path=f".github/workflows/{_WORKFLOW}",
        name="Release",
        conclusion=dependent.conclusion,
        created_at=timestamp(datetime.now(UTC)),
    )


def _wait(problem: str, is_done: Callable[[], object]) -> None:
    deadline = time.monotonic() + _TIMEOUT_SECONDS
    while not is_done():
        if time.monotonic() > deadline:
            raise LocalError(f"{problem} within {_TIMEOUT_SECONDS} seconds: check the dead-letter queues")
        time.sleep(_POLL_SECONDS)
