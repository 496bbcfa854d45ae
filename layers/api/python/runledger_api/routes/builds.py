"""Builds of packages: variants, progress, events and artifacts."""

from collections.abc import Mapping
from typing import Annotated, Any

from aws_lambda_powertools.event_handler.openapi.params import Body, Path, Query
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from runledger.model.packages import BuildKey
from runledger.releases import names
from runledger.releases.build_reports import MOST_VARIANTS, BuildReport, build_report
from runledger.releases.builds import Builds as ReportedBuilds
from runledger.releases.builds import shown
from runledger.tables.attributes import from_attributes
from runledger.tables.builds import COMPLETED, FAILED
from runledger.tables.pages import Span

from runledger_api import wiring
from runledger_api.authentication import Role
from runledger_api.authorization import requires
from runledger_api.errors import InvalidParameter, NotFound
from runledger_api.features import require_releases
from runledger_api.models.builds import Build, BuildDetails, Builds, Files
from runledger_api.models.builds import BuildReport as BuildReportBody
from runledger_api.package_requests import PackageName, VersionName, count_report, package_name, version_name
from runledger_api.pagination import Paginator
from runledger_api.parameters import INSTALLATION, Cursor, InstallationId, Limit, required
from runledger_api.request import current_request
from runledger_api.responses import untyped

router = APIGatewayHttpRouter()
BUILDS = f"{INSTALLATION}/builds/<package>"
MOST_EVENTS = 200
# The limit for the names of all variants of a build. They are in one DynamoDB item, which has at most 400 KB.
MOST_VARIANT_BYTES = 200_000
EnvironmentName = Annotated[
    str | None, Query(max_length=names.LONGEST_TEXT, description="name of the environment; required")
]
Sha256 = Annotated[str, Path(pattern=r"^[0-9A-Fa-f]{64}$", description="SHA-256 of the artifact, in hexadecimal")]


@router.put(
    f"{BUILDS}/<version>",
    tags=["releases"],
    operation_id="putBuild",
    summary="Report a variant of a build: started, completed or failed",
    description="Requires the role publisher. Each variant is counted once, however often and in whatever order it is "
    "reported. `completed` is final, and so are its artifacts: a report with other artifacts gets 409.",
)
@requires(Role.PUBLISHER)
def put_build(
    installation_id: InstallationId,
    package: PackageName,
    version: VersionName,
    body: Annotated[BuildReportBody | None, Body()] = None,
) -> Build:
    found, request = require_releases(), current_request(router)
    report = build_report(package_name(package), version_name(version), dict(required("body", body)))
    _check_room(installation_id, report)
    count_report(router, installation_id, entries=len(report.artifacts))
    builds = ReportedBuilds(table=found.builds, now=lambda: request.now)
    return untyped(builds.report(installation_id, report))


@router.get(
    BUILDS,
    tags=["releases"],
    operation_id="listBuilds",
    summary="Builds of a package in an environment, by version",
)
def builds(
    *,
    installation_id: InstallationId,
    package: PackageName,
    environment: EnvironmentName = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Builds:
    table, name = require_releases().builds, package_name(package)
    paginator = Paginator(wiring.cursors(), current_request(router), cursor, Span())
    found = table.page(installation_id, name, _environment(environment), limit=limit, start=paginator.start)
    return paginator.page([shown(from_attributes(item)) for item in found.items], found.next_key)


@router.get(
    f"{BUILDS}/<version>",
    tags=["releases"],
    operation_id="getBuild",
    summary="One build with its variants, artifacts and events",
)
def build(
    installation_id: InstallationId, package: PackageName, version: VersionName, environment: EnvironmentName = None
) -> BuildDetails:
    table = require_releases().builds
    key = BuildKey(installation_id, package_name(package), _environment(environment), version_name(version))
    found = table.get(key)
    if found is None:
        raise NotFound(f"No build of {key.name} {key.version} for {key.environment} was found")
    variants = [{"artifacts": [], **each} for each in table.variants(key, limit=MOST_VARIANTS)]
    return untyped({**shown(found), "variants": variants, "events": table.events(key, limit=MOST_EVENTS)})


@router.get(
    f"{INSTALLATION}/files/<sha256>",
    tags=["releases"],
    operation_id="listFiles",
    summary="Artifacts with this fingerprint, and the builds that they belong to",
)
def files(installation_id: InstallationId, sha256: Sha256, limit: Limit = 50, cursor: Cursor = None) -> Files:
    table = require_releases().builds
    paginator = Paginator(wiring.cursors(), current_request(router), cursor, Span())
    found = table.files(installation_id, sha256.lower(), limit=limit, start=paginator.start)
    return paginator.page([from_attributes(item) for item in found.items], found.next_key)


def _environment(given: str | None) -> str:
    return names.text(required("environment", given), field="environment")


def _check_room(installation_id: int, report: BuildReport) -> None:
    """Publishers choose the names of variants, so a mistake could add any number of them."""
    key = BuildKey(installation_id, report.name, report.environment, report.version)
    stored: Mapping[str, Any] = require_releases().builds.get(key) or {}
    known = {*stored.get(COMPLETED, ()), *stored.get(FAILED, ()), report.variant}
    if len(known) > MOST_VARIANTS:
        raise InvalidParameter("variant", f"exceeds the limit of {MOST_VARIANTS:,} variants in a build")
    if sum(len(each.encode()) for each in known) > MOST_VARIANT_BYTES:
        raise InvalidParameter(
            "variant", f"is too long: the names of all variants of a build can have {MOST_VARIANT_BYTES:,} bytes"
        )
