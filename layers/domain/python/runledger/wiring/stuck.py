"""The settings for stuck jobs, for the reconciler, the API and digests."""

from functools import cache

from runledger.model.dataclass import dataclass
from runledger.model.stuck import StuckThresholds
from runledger.wiring.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class StuckSettings(StuckThresholds, Settings):
    pass


@cache
def stuck_thresholds() -> StuckThresholds:
    return StuckSettings.from_environment()
