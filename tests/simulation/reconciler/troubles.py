"""What may go wrong in a world, drawn once for each, so that some worlds are calm and others are not."""

import json
import random
from dataclasses import dataclass, field

from urllib3.exceptions import ReadTimeoutError

from tests.simulation.calls import Fault
from tests.simulation.choices import seeded
from tests.simulation.reconciler.github import Response

MINUTE, HOUR = 60.0, 3600.0
AWS_FAULTS = (Fault.THROTTLED, Fault.UNREACHABLE, Fault.RESPONSE_LOST)
KINDS = ("404", "403", "502", "timeout", "response lost", "secondary limit", "primary limit", "garbage")


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """From `start` to `end`, this share of the calls whose path contains `path` fails."""

    start: float
    end: float
    kind: str
    share: float = 1.0
    path: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Troubles:
    """Shares from 0 to 1, and windows of GitHub's trouble. Nothing goes wrong after `silent_at`."""

    name: str
    silent_at: float
    never_sent: float = 0
    failed: float = 0
    late: float = 0
    doubled: float = 0
    events_lost: float = 0
    skipped: float = 0
    killed: float = 0
    aws: float = 0
    github: float = 0
    windows: tuple[Window, ...] = ()
    down: tuple[tuple[float, float], ...] = ()
    calls: dict[str, int] = field(default_factory=dict)

    def is_down(self, now: float) -> bool:
        return any(start <= now < end for start, end in self.down)

    def of_call(self, call: str, now: float) -> str | None:
        """Derived from the call and how often it was made, so that the order of other calls doesn't matter."""
        if now >= self.silent_at:
            return None
        self.calls[call] = self.calls.get(call, 0) + 1
        dice = seeded(f"{self.name} {call} {self.calls[call]}")
        for window in self.windows:
            if window.start <= now < window.end and window.path in call and dice.random() < window.share:
                return window.kind
        return dice.choice(KINDS) if dice.random() < self.github else None


def draw(dice: random.Random, name: str, *, start: float, silent_at: float, repositories: list[str]) -> Troubles:
    def some(*shares: float) -> float:
        return dice.choice((0.0, *shares))

    def within() -> tuple[float, float]:
        begin = dice.uniform(start, silent_at)
        return begin, min(silent_at, begin + dice.choice((2, 15, 40, 90)) * MINUTE)

    windows = []
    for _ in range(dice.choice((0, 0, 1, 2, 3))):
        begin, end = within()
        kind, share, path = dice.choice(KINDS), dice.choice((0.2, 0.6, 1.0)), dice.choice(("", "", "/runners", "/jobs"))
        windows.append(Window(start=begin, end=end, kind=kind, share=share, path=path))
    if dice.random() < 0.3:  # access to a repository is taken away and given back
        begin, end = within()
        windows.append(Window(start=begin, end=end, kind="404", path=f"/repos/{dice.choice(repositories)}/"))
    return Troubles(
        name=name,
        silent_at=silent_at,
        never_sent=some(0.1, 0.4),
        failed=some(0.1, 0.4),
        late=some(0.1, 0.4),
        doubled=some(0.2),
        events_lost=some(0.2, 0.7),
        skipped=some(0.1, 0.4),
        killed=some(0.1, 0.4),
        aws=some(0.002, 0.01),
        github=some(0.01, 0.05, 0.15),
        windows=tuple(windows),
        down=tuple(within() for _ in range(dice.choice((0, 0, 0, 1)))),
    )


def response_of(kind: str, *, now: float, silent_at: float) -> Response:
    """The response of GitHub instead, or a timeout."""
    resets_at = int(min(now + HOUR, silent_at))
    match kind:
        case "404":
            return _refusal(404, "Not Found")
        case "403":
            return _refusal(403, "Resource not accessible by integration")
        case "502":
            return Response(502, {}, b"<html>Unicorn!</html>")
        case "garbage":
            return Response(200, {}, b"<html>A proxy was here</html>")
        case "secondary limit":
            return _refusal(403, "You have exceeded a secondary rate limit.", {"retry-after": "60"})
        case "primary limit":
            limits = {"limit": "5000", "remaining": "0", "reset": str(resets_at)}
            headers = {f"x-ratelimit-{name}": value for name, value in limits.items()}
            return _refusal(403, "API rate limit exceeded.", headers)
    raise ReadTimeoutError(None, "", "read timed out")  # type: ignore[arg-type]


def _refusal(status: int, message: str, headers: dict[str, str] | None = None) -> Response:
    return Response(status, headers or {}, json.dumps({"message": message}).encode())
