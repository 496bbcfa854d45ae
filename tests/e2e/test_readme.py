"""What the README shows works as it stands there."""

import re
import subprocess
import sys
from pathlib import Path

from local.outputs import Outputs
from tests.e2e.test_webhooks import NOWHERE, post
from tests.webhooks import IN_PROGRESS, INSTALLATION, payload

README = Path(__file__).parent.parent.parent / "README.md"


def test_the_first_look_at_the_ledger(outputs: Outputs, tmp_path: Path) -> None:
    started = payload(IN_PROGRESS, job_id=4_000_001, runner_name=NOWHERE)
    assert post(outputs, started, guid="of the readme").status == 202
    (tmp_path / ".local").mkdir()
    outputs.save(tmp_path / ".local" / "outputs.json")
    (shown,) = re.findall(r"\.venv/bin/python - <<'PY'\n(.*?)\nPY\n", README.read_text(), re.DOTALL)
    looked = subprocess.run(
        [sys.executable, "-c", shown], cwd=tmp_path, check=True, capture_output=True, text=True
    ).stdout.splitlines()
    at = next(number for number, line in enumerate(looked) if line.startswith(f"{INSTALLATION}#4000001 created"))
    assert looked[at + 1].split()[1:] == ["webhook_in_progress", "in_progress"]
