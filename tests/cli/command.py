"""The command as people run it: a process of its own, with nothing of this one's environment."""

import os
import subprocess
import sys
from pathlib import Path

import runledger_cli

PACKAGE_FOLDER = Path(runledger_cli.__file__).parent.parent
# An import of thousands of objects takes minutes.
TIMEOUT_SECONDS = 900
COMMAND = (sys.executable, "-m", "runledger_cli")


def environment(**variables: str) -> dict[str, str]:
    """The environment of a command in Tokyo, whose time is never that of UTC."""
    return {"PATH": os.environ["PATH"], "PYTHONPATH": str(PACKAGE_FOLDER), "TZ": "Asia/Tokyo", **variables}


def runledger(*arguments: str, folder: Path | None = None, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments],
        cwd=folder,
        env=environment(**variables),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=TIMEOUT_SECONDS,
        check=False,
    )
