"""Everything that can go wrong on purpose.

Refusal                 the sender is at fault; nothing was changed; sending the same again will not help
├── BadSignature        nobody who knows the secret has sent this
├── OutOfScope          the secret that signed this is not valid for its installation or repository
├── Malformed           a field is missing or not what it must be
├── NotYours            the sender speaks about something that belongs to another owner
└── TooLarge
LostRace                somebody else wrote first: decide again on what is there now
UnavailableError        AWS did not do what it was asked, for a reason that may pass: try again later
├── ContendedError      the race was lost again and again
└── RegisteredElsewhere a machine's runner is registered with another installation than its owner's
NewerMessage            a newer version of Runledger wrote this message: leave it for that version to read
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runledger.model.job import Job


class Refusal(Exception):
    """Carries the sentence that the sender is shown."""


class BadSignature(Refusal):
    pass


class OutOfScope(Refusal):
    pass


class Malformed(Refusal):
    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field} {problem}")
        self.field = field


class NotYours(Refusal):
    pass


class TooLarge(Refusal):
    pass


class LostRace(Exception):
    """`current` is what stands there now, if the refused write said so."""

    def __init__(self, current: "Job | None") -> None:
        super().__init__("the item was changed by somebody else")
        self.current = current


class UnavailableError(Exception):
    pass


class ContendedError(UnavailableError):
    pass


class RegisteredElsewhere(UnavailableError):
    def __init__(self, runner_id: str, *, installation_id: int) -> None:
        super().__init__(f"runner {runner_id} is registered with installation {installation_id}, not its owner's")
        self.installation_id = installation_id


class NewerMessage(Exception):
    def __init__(self, version: int, *, supported: int) -> None:
        super().__init__(f"the message has version {version}; this function reads up to version {supported}")
        self.version = version
        self.supported = supported
