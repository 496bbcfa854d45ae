"""The hourly rate limit of each installation and of the App itself."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from local.github.messages import Refusal

WINDOW = timedelta(hours=1)


@dataclass
class _Window:
    resets_at: int
    used: int = 0


class Budget:
    """Counts calls per caller in windows of an hour from the caller's first call."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._windows: dict[str, _Window] = {}

    def spend(self, caller: str, now: datetime) -> None:
        window = self._window(caller, now)
        if window.used >= self.limit:
            raise Refusal(403, f"API rate limit exceeded for {caller}.")
        window.used += 1

    def refund(self, caller: str, now: datetime) -> None:
        """A conditional request that returns 304 doesn't count."""
        self._window(caller, now).used -= 1

    def report(self, caller: str, now: datetime) -> dict[str, int]:
        window = self._window(caller, now)
        return {
            "limit": self.limit,
            "remaining": max(self.limit - window.used, 0),
            "reset": window.resets_at,
            "used": window.used,
        }

    def _window(self, caller: str, now: datetime) -> _Window:
        window = self._windows.get(caller)
        if window is None or window.resets_at <= now.timestamp():
            window = self._windows[caller] = _Window(resets_at=int((now + WINDOW).timestamp()))
        return window


def headers(report: dict[str, int]) -> dict[str, str]:
    return {f"X-RateLimit-{name.title()}": str(value) for name, value in report.items()} | {
        "X-RateLimit-Resource": "core"
    }
