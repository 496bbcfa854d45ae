"""The settings for stuck jobs, for the reconciler, the API and digests."""

from functools import cache

from runledger.model.dataclass import dataclass
from runledger.model.stuck import Patience
from runledger.wiring.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class StuckSettings(Settings):
    stuck_queued_minutes: int
    stuck_scheduled_minutes: int
    long_running_hours: int
    forgotten_approval_hours: int
    runner_requests_at_most: int


@cache
def patience() -> Patience:
    settings = StuckSettings.from_environment()
    return Patience(
        queued_minutes=settings.stuck_queued_minutes,
        scheduled_minutes=settings.stuck_scheduled_minutes,
        in_progress_hours=settings.long_running_hours,
        waiting_hours=settings.forgotten_approval_hours,
        runner_requests_at_most=settings.runner_requests_at_most,
    )
