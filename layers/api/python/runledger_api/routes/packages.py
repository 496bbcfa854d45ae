"""Packages: what they depend on, what depends on them, and their versions."""

from collections.abc import Mapping
from typing import Annotated, Any

from aws_lambda_powertools.event_handler.openapi.params import Body, Query
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from runledger.model.packages import LONGEST_RANGE, Publication
from runledger.model.packages import Package as StoredPackage
from runledger.model.packages import PublishedBy as Source
from runledger.releases import versions
from runledger.releases.package_reports import PackageReport as PackageInput
from runledger.releases.package_reports import package_report, version_report
from runledger.tables.attributes import from_attributes
from runledger.tables.pages import Span

from runledger_api import wiring
from runledger_api.authentication import Role
from runledger_api.authorization import requires
from runledger_api.errors import Forbidden, NotFound
from runledger_api.features import require_releases
from runledger_api.models.packages import (
    AcceptedVersion,
    Package,
    PackageDetails,
    PackageReport,
    Packages,
    VersionReport,
    Versions,
)
from runledger_api.package_requests import PackageName, VersionName, count_report, package_name, version_name
from runledger_api.pagination import Paginator
from runledger_api.parameters import INSTALLATION, Cursor, InstallationId, Limit, required
from runledger_api.request import current_request
from runledger_api.responses import untyped

router = APIGatewayHttpRouter()
PACKAGES = f"{INSTALLATION}/packages"
ONE = f"{PACKAGES}/<package>"
MOST_DEPENDENTS = 200
# These fields decide which workflow is dispatched when a dependency of the package is published.
TARGET = ("repo_full_name", "workflow", "ref")
AFTER = "version"


@router.get(PACKAGES, tags=["releases"], operation_id="listPackages", summary="Packages, by name")
def packages(installation_id: InstallationId, limit: Limit = 50, cursor: Cursor = None) -> Packages:
    table = require_releases().packages
    paginator = Paginator(wiring.cursors(), current_request(router), cursor, Span())
    found = table.page(installation_id, limit=limit, start=paginator.start)
    return paginator.page([from_attributes(item) for item in found.items], found.next_key)


@router.get(
    ONE,
    tags=["releases"],
    operation_id="getPackage",
    summary="A package, its dependencies and dependents, and its newest complete build in each environment",
    description=f"At most {MOST_DEPENDENTS} dependents, by name.",
)
def package(installation_id: InstallationId, package: PackageName) -> PackageDetails:
    tables, name = require_releases(), package_name(package)
    found = _found(installation_id, name)
    heads = [{"rollback_versions": [], **each} for each in tables.builds.heads(installation_id, name)]
    dependents = tables.packages.edges(installation_id, name, limit=MOST_DEPENDENTS)
    return untyped({**found, "dependents": dependents, "heads": heads})


@router.put(
    ONE,
    tags=["releases"],
    operation_id="putPackage",
    summary="Create or replace a package's description and dependencies",
    description="Requires the role publisher; operator to change `workflow`, or `ref` and `repo_full_name` of a "
    "package that has one. Fields that you omit are removed. Its versions are kept.",
)
@requires(Role.PUBLISHER)
def put_package(
    installation_id: InstallationId, package: PackageName, body: Annotated[PackageReport | None, Body()] = None
) -> Package:
    table, name = require_releases().packages, package_name(package)
    report = package_report(name, dict(required("body", body)))
    _check_target(installation_id, report)
    count_report(router, installation_id, entries=len(report.dependencies))
    values = {each: getattr(report, each) for each in report.__slots__}
    return untyped(table.save(StoredPackage(installation_id=installation_id, **values), at=current_request(router).now))


@router.get(
    f"{ONE}/versions",
    tags=["releases"],
    operation_id="listVersions",
    summary="Published versions of a package, the highest first",
)
def package_versions(
    *,
    installation_id: InstallationId,
    package: PackageName,
    range: Annotated[  # noqa: A002
        str | None, Query(max_length=LONGEST_RANGE, description="only versions in this npm range, such as ^1.2")
    ] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Versions:
    """Sorts all versions, because the table has them in text order, with 1.10 before 1.9."""
    table, name = require_releases().packages, package_name(package)
    paginator = Paginator(wiring.cursors(), current_request(router), cursor, Span())
    found = table.versions(installation_id, name)
    if not found:
        _found(installation_id, name)
    wanted = [each for each in found if range is None or versions.includes(range, each["version"])]
    ordered = sorted(wanted, key=lambda each: versions.order(each["version"]), reverse=True)
    if paginator.start:
        after = versions.order(paginator.start[AFTER])
        ordered = [each for each in ordered if versions.order(each["version"]) < after]
    page, more = ordered[:limit], len(ordered) > limit
    return paginator.page([_version(each) for each in page], {AFTER: page[-1]["version"]} if more else None)


@router.put(
    f"{ONE}/versions/<version>",
    tags=["releases"],
    operation_id="putVersion",
    summary="Publish a version of a package",
    description="Requires the role publisher. Repeating the request has no effect. Dependents of the version are "
    "rebuilt or planned: see `GET releases/{name}/{version}`.",
    status_code=202,
)
@requires(Role.PUBLISHER)
def put_version(
    installation_id: InstallationId,
    package: PackageName,
    version: VersionName,
    body: Annotated[VersionReport | None, Body()] = None,
) -> AcceptedVersion:
    publications, name = require_releases().publications, package_name(package)
    report = version_report(name, version_name(version), dict(body or {}))
    found = _found(installation_id, name)
    count_report(router, installation_id, entries=len(report.dependencies or ()))
    publications.send(
        Publication(
            installation_id=installation_id,
            repo_full_name=found["repo_full_name"],
            published_by=Source.API,
            published_at=current_request(router).now,
            package_name=name,
            package_version=report.version,
            head_sha=report.head_sha,
            run_id=report.run_id,
            dependencies=report.dependencies,
        )
    )
    return {"name": name, "version": report.version}


def _version(stored: Mapping[str, Any]) -> dict[str, Any]:
    joined = stored.get("joined")
    return {**stored, "released_with": {"name": joined[0], "version": joined[1]}} if joined else dict(stored)


def _check_target(installation_id: int, report: PackageInput) -> None:
    """Jobs of any repository may hold a publisher token, which must not start the workflows of other repositories."""
    stored = require_releases().packages.get(installation_id, report.name) or {}
    has_workflow = "workflow" in stored or report.workflow is not None
    if has_workflow and any(stored.get(each) != getattr(report, each) for each in TARGET):
        try:
            current_request(router).caller.require(Role.OPERATOR)
        except Forbidden as forbidden:
            raise Forbidden(f"{forbidden}, because it changes the workflow of a package") from None


def _found(installation_id: int, name: str) -> Mapping[str, Any]:
    found = require_releases().packages.get(installation_id, name)
    if found is None:
        raise NotFound(f"Package {name} was not found in installation {installation_id}")
    return found
