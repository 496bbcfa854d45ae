"""Expected errors.

Rejection                 the input is invalid; nothing was changed; a retry won't help
├── BadSignature        not signed with an active secret
├── OutOfScope          the secret isn't valid for the installation or repository
├── Malformed           a field is missing or invalid
├── WrongHost           a delivery from a GitHub host that this deployment doesn't serve
├── NotYours            the input is about a record of another owner
├── Contradiction       the input contradicts a final value
└── TooLarge
LostRace                another process wrote first: decide again, based on the current item
UnavailableError        it can't be done now: AWS or GitHub fails, or something must change first. Check again later
├── ContendedError      the race was lost several times in a row
├── RegisteredElsewhere the runner of a machine is registered with an installation other than its owner's
├── NoResponseError     GitHub: no connection, a timeout, a 5xx, or a response that isn't JSON
└── RateLimited         GitHub accepts no calls until `until`
GitHubRefusal           GitHub refuses a call: a retry won't help
NewerMessage            written by a newer version of Runledger: leave it for that version
"""

from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runledger.model.job import Job


class Rejection(Exception):
    """Its message is shown to the sender."""


class BadSignature(Rejection):
    pass


class OutOfScope(Rejection):
    pass


class Malformed(Rejection):
    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field} {problem}")
        self.field = field
        self.problem = problem


class WrongHost(Rejection):
    pass


class NotYours(Rejection):
    pass


class Contradiction(Rejection):
    pass


class TooLarge(Rejection):
    pass


class LostRace(Exception):
    """`current` is the stored item, if the failed write returned it."""

    def __init__(self, current: "Job | None") -> None:
        super().__init__("another process changed the item")
        self.current = current


class UnavailableError(Exception):
    """`repeatable` if the failed call wasn't executed, or is idempotent. Without that certainty, it isn't repeatable:
    a call that was executed must not be made twice.
    """

    repeatable = False


class ContendedError(UnavailableError):
    pass


class RegisteredElsewhere(UnavailableError):
    def __init__(self, runner_id: str, *, installation_id: int) -> None:
        super().__init__(f"runner {runner_id} is registered with installation {installation_id}, not its owner's")
        self.installation_id = installation_id


class NoResponseError(UnavailableError):
    def __init__(self, problem: str, *, repeatable: bool) -> None:
        super().__init__(problem)
        self.repeatable = repeatable


class RateLimited(UnavailableError):
    """`until` is in seconds since 1970, as in GitHub's headers."""

    repeatable = True

    def __init__(self, caller: str, *, until: float) -> None:
        super().__init__(f"GitHub accepts no more calls from {caller} until {datetime.fromtimestamp(until, UTC)}")
        self.until = until


class GitHubRefusal(Exception):
    """`status` is that of GitHub's response; None if GitHub wasn't called."""

    def __init__(self, problem: str, *, status: int | None = None) -> None:
        super().__init__(problem)
        self.status = status


class NewerMessage(Exception):
    def __init__(self, version: int, *, supported: int) -> None:
        super().__init__(f"the message has version {version}; this function reads up to version {supported}")
        self.version = version
        self.supported = supported
