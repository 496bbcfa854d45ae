"""Release lines: published versions, and the rebuilds of their dependents."""

from collections.abc import Mapping
from typing import Any

from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from runledger.model.packages import BuildKey, LineKey
from runledger.releases.builds import shown
from runledger.tables.attributes import from_attributes
from runledger.tables.pages import Span

from runledger_api import wiring
from runledger_api.errors import NotFound
from runledger_api.features import require_releases
from runledger_api.models.packages import ReleaseDetails, ReleaseLines
from runledger_api.package_requests import PackageName, VersionName, package_name, version_name
from runledger_api.pagination import Paginator
from runledger_api.parameters import INSTALLATION, Cursor, InstallationId, Limit
from runledger_api.request import current_request
from runledger_api.responses import untyped

router = APIGatewayHttpRouter()
RELEASES = f"{INSTALLATION}/releases"
MOST_ENVIRONMENTS = 100


@router.get(
    RELEASES,
    tags=["releases"],
    operation_id="listReleases",
    summary="Published versions, newest first, with the progress of their dependents' rebuilds",
)
def lines(installation_id: InstallationId, limit: Limit = 50, cursor: Cursor = None) -> ReleaseLines:
    table = require_releases().lines
    paginator = Paginator(wiring.cursors(), current_request(router), cursor, Span())
    found = table.page(installation_id, limit=limit, start=paginator.start)
    return paginator.page([_body(from_attributes(item)) for item in found.items], found.next_key)


@router.get(
    f"{RELEASES}/<package>/<version>",
    tags=["releases"],
    operation_id="getRelease",
    summary="A published version: the rebuilds of its dependents, in dependency order, and its builds",
    description=f"With its builds in up to {MOST_ENVIRONMENTS} environments.",
)
def line(installation_id: InstallationId, package: PackageName, version: VersionName) -> ReleaseDetails:
    table = require_releases().lines
    key = LineKey(installation_id, package_name(package), version_name(version))
    found = table.get(key)
    if found is None:
        raise NotFound(_reason(key))
    dependents = sorted(table.dependents(key), key=lambda each: each.get("position", 0))
    return untyped({**_body(found), "dependents": dependents, "builds": _builds(key)})


def _builds(line: LineKey) -> list[dict[str, Any]]:
    table = require_releases().builds
    environments = [each["environment"] for each in table.heads(line.installation_id, line.name)][:MOST_ENVIRONMENTS]
    found = (table.get(BuildKey(line.installation_id, line.name, each, line.version)) for each in environments)
    return [shown(item) for item in found if item]


def _reason(line: LineKey) -> str:
    """A version that a rebuild published belongs to the line of the package for which it was rebuilt."""
    stored = require_releases().packages.version(*line)
    if stored is None and (builds := _builds(line)):
        environments = ", ".join(each["environment"] for each in builds)
        return f"{line.name} {line.version} has builds ({environments}), but hasn't been published"
    if stored is None:
        return f"{line.name} {line.version} was not found in installation {line.installation_id}"
    if joined := stored.get("joined"):
        return f"{line.name} {line.version} was published by a rebuild: see the release {' '.join(joined[:2])}"
    if stored.get("has_line"):
        days = require_releases().retention_days
        return f"The release of {line.name} {line.version} has expired: releases are kept for {days} days"
    return f"The release of {line.name} {line.version} isn't ready yet: try again in a few seconds"


def _body(line: Mapping[str, Any]) -> dict[str, Any]:
    total = line["total_dependents"]
    return {**line, "progress": round(line["finished_dependents"] / total, 4) if total else None}
