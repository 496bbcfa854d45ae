"""Paths and parameters that several routes share, and the parsing of times.

A required body or parameter is optional for Powertools, which validates a request before the route's middleware runs:
the API must first return 404 for an installation that the caller can't see. The route then checks it with `required`.
"""

import re
from typing import Annotated, Literal, TypeVar

from aws_lambda_powertools.event_handler.openapi.params import Path, Query
from runledger.model import times
from runledger.model.payload import LARGEST_ID, REPOSITORY_NAME
from runledger.tables.pages import Span

from runledger_api import validation
from runledger_api.errors import InvalidParameter
from runledger_api.request import Request

AGE = re.compile(r"(\d{1,5})([mhdw])")
SECONDS = {
    "m": times.SECONDS_PER_MINUTE,
    "h": times.SECONDS_PER_HOUR,
    "d": times.SECONDS_PER_DAY,
    "w": 7 * times.SECONDS_PER_DAY,
}
INSTALLATION = "/v1/installations/<installation_id>"
# Ids that Runledger generates: of events, subscriptions and messages.
GENERATED_ID = r"^[0-9a-f]{32}$"
EVENT_TYPE = r"^[a-z][a-z0-9_.]{1,99}$"
DATE = r"^\d{4}-\d{2}-\d{2}$"
INSTANT = r"^(\d{1,5}[mhdw]|\d{4}-\d{2}-\d{2}.{0,25})$"

InstallationId = Annotated[
    int, Path(ge=0, le=LARGEST_ID, description="GitHub's installation id; 0 for hooks without an App")
]
JobId = Annotated[int, Path(ge=0, le=LARGEST_ID, description="GitHub's id of the job")]
RunId = Annotated[int, Path(ge=0, le=LARGEST_ID, description="GitHub's id of the run")]
DeploymentId = Annotated[int, Path(ge=0, le=LARGEST_ID, description="GitHub's id of the deployment")]
Limit = Annotated[int, Query(ge=1, le=200, description="maximum number of items")]
Cursor = Annotated[str | None, Query(max_length=2000, description="`next_cursor` of the previous page")]
Order = Annotated[Literal["newest", "oldest"], Query(description="newest or oldest items first")]
Since = Annotated[
    str | None,
    Query(pattern=INSTANT, description="start, inclusive: an ISO 8601 time, or an age such as 30m, 24h or 7d"),
]
Until = Annotated[str | None, Query(pattern=INSTANT, description="end, exclusive: a time or an age, as in since")]
Repo = Annotated[
    str | None,
    Query(pattern=rf"^{REPOSITORY_NAME}$", max_length=200, description="the repository's owner/name"),
]
LookupRepo = Annotated[
    str | None,
    Query(
        pattern=rf"^{REPOSITORY_NAME}$",
        max_length=200,
        description="the repository's owner/name, for a lookup on GitHub if the ledger doesn't have it",
    ),
]
Owner = Annotated[str, Path(pattern=r"^[A-Za-z0-9_-]+$", max_length=100, description="owner of the repository")]
RepositoryName = Annotated[
    str, Path(pattern=r"^[A-Za-z0-9._-]+$", max_length=100, description="name of the repository")
]
Attempt = Annotated[int | None, Query(ge=1, le=10_000, description="attempt of the run; defaults to the newest")]


Given = TypeVar("Given")


def required(name: str, given: Given | None) -> Given:
    if given is None or given == "":
        raise InvalidParameter(name, "is missing")
    return given


def check_text(name: str, text: str | None, *, longest: int) -> None:
    if text is not None and not (0 < len(text) <= longest and text.isprintable()):
        raise InvalidParameter(name, f"must be printable text of 1 to {longest} characters")


def instant(name: str, text: str | None, request: Request) -> str | None:
    if text is None:
        return None
    if age := AGE.fullmatch(text):
        return times.earlier(request.now, seconds=int(age[1]) * SECONDS[age[2]])
    try:
        # An unencoded plus sign before the time zone arrives as a space.
        found = times.normalised(text.replace(" ", "+") if "T" in text else text)
    except ValueError:
        raise InvalidParameter(name, validation.INSTANT) from None
    if found >= times.NEVER:  # later days can't be computed
        raise InvalidParameter(name, "must be before the year 9999")
    return found


def span(request: Request, since: str | None, until: str | None) -> Span:
    found = Span(since=instant("since", since, request), until=instant("until", until, request))
    if found.since and found.until and found.since >= found.until:
        raise InvalidParameter("until", "must be after since")
    return found


def day_span(day: str) -> Span:
    """The day in UTC."""
    try:
        return Span(since=times.normalised(day), until=times.later(day, seconds=times.SECONDS_PER_DAY))
    except (ValueError, OverflowError):
        raise InvalidParameter("day", validation.DAY) from None


def measured_range(request: Request, since: str, until: str | None) -> tuple[str, str]:
    """The range of a statistic. It ends now if there is no `until`."""
    found = span(request, since, until)
    begin, end = found.since or request.now, found.until or request.now
    if begin >= end:
        raise InvalidParameter("since", "must be in the past")
    return begin, end
