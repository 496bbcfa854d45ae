"""5,000 open jobs in 300 repositories with 12,500 calls an hour: every part of a pass runs in every hour."""

from collections import Counter
from pathlib import Path

import pytest

from tests.simulation.reconciler import scale

pytestmark = pytest.mark.walk

HOURS = 2
DOCUMENT = Path(__file__).parents[3] / "docs" / "scaling.md"


def test_every_part_runs_in_every_hour_and_makes_progress_within_its_share_of_calls() -> None:
    """One test, so that the hours are played once."""
    hours = scale.play(HOURS)
    assert [hour.parts for hour in hours] == [set(scale.PARTS)] * HOURS
    for hour in hours:
        assert hour.calls <= scale.CALLS_AN_HOUR * 0.55, "half of the budget, and some more of the App, is for others"
    total: Counter[str] = sum((hour.counts for hour in hours), start=Counter())
    assert hours[-1].behind == 0
    assert total["jobs_healed"] >= scale.JOBS // 10  # a quick and a full pass at the same time may both count one
    assert total["orphans_cleaned"] == scale.ORPHANS
    assert total["webhooks_redelivered"] >= scale.LOST
    assert total["forgotten_approvals"] >= 1
    assert "\n".join(scale.table(hours)) in DOCUMENT.read_text()
