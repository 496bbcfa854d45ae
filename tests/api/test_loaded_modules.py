"""The API reads the tables. The code that records, repairs and tracks machines stays out of its process."""

import json
import subprocess
import sys
from pathlib import Path

from local.processes import clean_environment
from tests.support.settings import SETTINGS

ROOT = Path(__file__).parent.parent.parent
UNWANTED = (
    *("runledger.recording", "runledger.webhooks", "runledger.runners", "runledger.reconciliation"),
    # What sends messages: the API only checks its settings.
    *("runledger.notifications.sender", "runledger.notifications.channels.opening"),
    "runledger.notifications.channels.connection",
)


def test_the_api_loads_nothing_that_records_or_repairs() -> None:
    paths = ["functions", *(f"layers/{layer}/python" for layer in ("domain", "api"))]
    started = subprocess.run(
        [sys.executable, "-c", "import json, sys, api; print(json.dumps(list(sys.modules)))"],
        cwd=ROOT,
        env=clean_environment(**SETTINGS, AWS_ACCESS_KEY_ID="test", PYTHONPATH=":".join(paths)),
        check=True,
        capture_output=True,
        text=True,
    )
    loaded = json.loads(started.stdout)
    assert "runledger_api.app" in loaded
    assert [name for name in loaded if name.startswith(UNWANTED)] == []
