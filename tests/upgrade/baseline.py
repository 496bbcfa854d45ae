"""An older version of the whole app, taken from the history of this checkout."""

import io
import subprocess
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
# The version from which the tests upgrade. Move it to a release's commit once there is one.
BASELINE = "3758b994b3b6c0a4367688fa983e260ac48cd99f"
# Built once: a commit never changes, and pip would install the same packages into its layers in every run.
ASSETS = ROOT / ".local" / "cache" / "baselines" / BASELINE


def check_out(folder: Path) -> Path:
    """The files of the baseline, with the tools of this checkout."""
    archive = subprocess.run(["git", "-C", ROOT, "archive", "--format=tar", BASELINE], capture_output=True, check=False)
    if archive.returncode:
        reason = archive.stderr.decode(errors="replace").strip()
        pytest.fail(
            f"the upgrade test starts from commit {BASELINE}, which this checkout doesn't have ({reason}): "
            "fetch the full history with `git fetch --unshallow`, or clone without --depth"
        )
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
        # Python before 3.11.4 has no filters.
        files.extraction_filter = getattr(tarfile, "data_filter", None)
        files.extractall(folder)  # noqa: S202 - of this repository
    for shared in (".venv", "node_modules"):
        (folder / shared).symlink_to(ROOT / shared)
    ASSETS.mkdir(parents=True, exist_ok=True)
    return folder
