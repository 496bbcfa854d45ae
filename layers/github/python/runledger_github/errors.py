"""Errors of the GitHub client, as subclasses of the domain's errors.

UnavailableError        temporary: retry later
├── NoResponseError     (the domain's)
├── RateLimited         (the domain's)
└── OutOfTime           the caller's deadline has passed; GitHub wasn't called
GitHubRefusal           permanent: a retry won't help
├── BadName             not a valid owner or repository name; GitHub wasn't called
├── BadCredentials      the App's secret is malformed, or GitHub refuses the credentials
├── NotFound            doesn't exist, or this installation has no access: GitHub doesn't distinguish them
└── Refused             any other 4xx, with GitHub's `message`
"""

from runledger.model.errors import GitHubRefusal, UnavailableError


class OutOfTime(UnavailableError):
    repeatable = True


class BadName(GitHubRefusal):
    def __init__(self, name: str) -> None:
        super().__init__(f"{name!r} isn't a valid owner or repository name")


class BadCredentials(GitHubRefusal):
    pass


class NotFound(GitHubRefusal):
    pass


class Refused(GitHubRefusal):
    def __init__(self, call: str, *, status: int, message: str) -> None:
        super().__init__(f"{call}: {status} {message}", status=status)
        self.message = message
