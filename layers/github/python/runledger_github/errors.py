"""Everything that GitHub can do instead of what it was asked.

UnavailableError        (the domain's) for a reason that may pass: try again later
├── NoAnswerError       no connection, a time-out, a 5xx, or an answer that cannot be read
├── RateLimited         no more calls before `until`
└── OutOfTime           the caller must finish, so GitHub was not asked
GitHubRefusal           asking again will not help
├── BadName             no owner or repository can have this name, so GitHub was not asked
├── BadCredentials      the App's secret is of no use, or GitHub does not accept what was signed with it
├── NotFound            it does not exist, or this installation may not see it: GitHub does not say which
└── Refused             any other 4xx, with GitHub's own `status` and `message`
"""

from datetime import UTC, datetime

from runledger.model.errors import UnavailableError


class NoAnswerError(UnavailableError):
    """`repeatable` if GitHub surely did nothing, or if doing it twice is the same as once."""

    def __init__(self, problem: str, *, repeatable: bool) -> None:
        super().__init__(problem)
        self.repeatable = repeatable


class RateLimited(UnavailableError):
    """`until` is in seconds since 1970, as GitHub's own headers are."""

    def __init__(self, caller: str, *, until: float) -> None:
        super().__init__(f"GitHub takes no more calls of {caller} before {datetime.fromtimestamp(until, UTC)}")
        self.until = until


class OutOfTime(UnavailableError):
    pass


class GitHubRefusal(Exception):
    pass


class BadName(GitHubRefusal):
    def __init__(self, name: str) -> None:
        super().__init__(f"{name!r} is not a name that GitHub allows")


class BadCredentials(GitHubRefusal):
    pass


class NotFound(GitHubRefusal):
    pass


class Refused(GitHubRefusal):
    def __init__(self, call: str, *, status: int, message: str) -> None:
        super().__init__(f"{call}: {status} {message}")
        self.status = status
        self.message = message
