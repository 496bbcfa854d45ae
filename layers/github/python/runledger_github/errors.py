"""Errors of the GitHub client.

UnavailableError        (the domain's) temporary: retry later
├── NoResponseError       no connection, a timeout, a 5xx, or a response that isn't JSON
├── RateLimited         no calls are allowed until `until`
└── OutOfTime           the caller's deadline has passed; GitHub wasn't called
GitHubRefusal           permanent: a retry won't help
├── BadName             not a valid owner or repository name; GitHub wasn't called
├── BadCredentials      the App's secret is malformed, or GitHub refuses the credentials
├── NotFound            doesn't exist, or this installation has no access: GitHub doesn't distinguish them
└── Refused             any other 4xx, with GitHub's `status` and `message`
"""

from datetime import UTC, datetime

from runledger.model.errors import UnavailableError


class NoResponseError(UnavailableError):
    """`repeatable` if GitHub can't have executed the call, or if the call is idempotent."""

    def __init__(self, problem: str, *, repeatable: bool) -> None:
        super().__init__(problem)
        self.repeatable = repeatable


class RateLimited(UnavailableError):
    """`until` is in seconds since 1970, as in GitHub's headers."""

    def __init__(self, caller: str, *, until: float) -> None:
        super().__init__(f"GitHub accepts no more calls from {caller} until {datetime.fromtimestamp(until, UTC)}")
        self.until = until


class OutOfTime(UnavailableError):
    pass


class GitHubRefusal(Exception):
    pass


class BadName(GitHubRefusal):
    def __init__(self, name: str) -> None:
        super().__init__(f"{name!r} isn't a valid owner or repository name")


class BadCredentials(GitHubRefusal):
    pass


class NotFound(GitHubRefusal):
    pass


class Refused(GitHubRefusal):
    def __init__(self, call: str, *, status: int, message: str) -> None:
        super().__init__(f"{call}: {status} {message}")
        self.status = status
        self.message = message
