"""What requests about packages share: names and versions in paths, and the limit of reports."""

from typing import Annotated
from urllib.parse import unquote

from aws_lambda_powertools.event_handler.openapi.params import Path
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from runledger.model.packages import LONGEST_NAME
from runledger.releases import names

from runledger_api.errors import InvalidParameter, TooManyRequests
from runledger_api.features import require_releases
from runledger_api.request import current_request

# Names and versions may be encoded, which makes them up to three times as long. `names` decides which are valid.
PackageName = Annotated[str, Path(max_length=3 * LONGEST_NAME, description="name of the package, URL-encoded")]
VersionName = Annotated[str, Path(max_length=3 * names.LONGEST_VERSION, description="the version")]
# A DynamoDB item has up to 400 KB, and contains some names of a report twice.
LARGEST_REPORT_BYTES = 250_000
# A larger report counts as several: it takes as many write units.
BYTES_PER_COUNTED_REPORT, ENTRIES_PER_COUNTED_REPORT = 10_000, 10


def package_name(encoded: str) -> str:
    """A name may be encoded twice: API Gateway decodes a path once, but not every proxy does."""
    return names.package_name(unquote(unquote(encoded)), field="package")


def version_name(encoded: str) -> str:
    return names.version(unquote(encoded))


def count_report(router: APIGatewayHttpRouter, installation_id: int, *, entries: int) -> None:
    """Call it after all other checks, so that a rejected report doesn't count towards the limit.

    `entries` is the number of dependencies or artifacts: each is a write.
    """
    size = len((router.current_event.body or "").encode("utf-8", "replace"))
    if size > LARGEST_REPORT_BYTES:
        raise InvalidParameter("body", f"must have at most {LARGEST_REPORT_BYTES:,} bytes")
    reports = require_releases().reports
    requests = 1 + size // BYTES_PER_COUNTED_REPORT + entries // ENTRIES_PER_COUNTED_REPORT
    if not reports.count(installation_id, at=current_request(router).now, requests=requests):
        most = reports.most_per_minute
        raise TooManyRequests(f"This installation has reached its limit of {most} reports a minute: try again later")
