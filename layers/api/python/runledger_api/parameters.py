"""Parameters that many routes share, described once, and instants as people write them."""

import re
from typing import Annotated, Literal

from aws_lambda_powertools.event_handler.openapi.params import Path, Query
from runledger import times
from runledger.payload import REPOSITORY_NAME
from runledger.tables.pages import Span

from runledger_api.refusals import BadParameter
from runledger_api.visits import Visit

LARGEST_ID = 2**63 - 1
AGE = re.compile(r"(\d{1,5})([mhdw])")
SECONDS = {"m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400}
INSTANT = r"^(\d{1,5}[mhdw]|\d{4}-\d{2}-\d{2}.{0,25})$"

InstallationId = Annotated[int, Path(ge=0, le=LARGEST_ID, description="GitHub's id of the installation; 0 for none")]
JobId = Annotated[int, Path(ge=0, le=LARGEST_ID, description="GitHub's id of the job")]
RunId = Annotated[int, Path(ge=0, le=LARGEST_ID, description="GitHub's id of the run")]
DeploymentId = Annotated[int, Path(ge=0, le=LARGEST_ID, description="GitHub's id of the deployment")]
Limit = Annotated[int, Query(ge=1, le=200, description="how many at most")]
Cursor = Annotated[str | None, Query(max_length=2000, description="`next_cursor` of the page before")]
Order = Annotated[Literal["newest", "oldest"], Query(description="what comes first")]
Since = Annotated[
    str | None,
    Query(pattern=INSTANT, description="from then on: an ISO 8601 instant, or an age such as 30m, 24h, 7d"),
]
Until = Annotated[str | None, Query(pattern=INSTANT, description="before then: an instant or an age, as in since")]
Repo = Annotated[
    str | None, Query(pattern=rf"^{REPOSITORY_NAME}$", max_length=200, description="a repository, as owner/name")
]
Attempt = Annotated[int | None, Query(ge=1, le=10_000, description="of the run; the newest known one if left out")]


def instant(name: str, text: str | None, visit: Visit) -> str | None:
    if text is None:
        return None
    if age := AGE.fullmatch(text):
        return times.earlier(visit.now, seconds=int(age[1]) * SECONDS[age[2]])
    try:
        # In a query string a plus is a space, and people forget to write the one before a time zone as %2B.
        return times.normalised(text.replace(" ", "+") if "T" in text else text)
    except ValueError:
        raise BadParameter(name, "should be an ISO 8601 instant, or an age such as 30m, 24h or 7d") from None


def span(visit: Visit, since: str | None, until: str | None) -> Span:
    found = Span(since=instant("since", since, visit), until=instant("until", until, visit))
    if found.since and found.until and found.since >= found.until:
        raise BadParameter("until", "should be after since")
    return found
