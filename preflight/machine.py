"""This machine: the tools that `cdk deploy` needs."""

import re
import shutil
import subprocess
from collections.abc import Sequence

from preflight.results import Caution, Ok, Outcome, Problem

OLDEST_PYTHON = (3, 11)
OLDEST_NODE = 20
OLDEST_MAINTAINED_NODE = 22


def python(version: Sequence[int]) -> Outcome:
    found = ".".join(map(str, version[:3]))
    if tuple(version[:2]) < OLDEST_PYTHON:
        return Problem(f"{found} is too old", "install Python 3.11 or newer and run `make install PYTHON=python3.13`")
    return Ok(found)


def node(path: str | None) -> Outcome:
    command = shutil.which("node", path=path)
    if command is None:
        return Problem("node isn't installed", "run `make install`, which installs it")
    shown = subprocess.run([command, "--version"], capture_output=True, text=True, check=False).stdout.strip()  # noqa: S603
    version = re.match(r"v(\d+)\.", shown)
    if version is None or int(version[1]) < OLDEST_NODE:
        return Problem(
            f"{shown or 'an unknown version'} is too old",
            f"install Node.js {OLDEST_NODE} or newer, or remove it from PATH and run `make install`",
        )
    if int(version[1]) < OLDEST_MAINTAINED_NODE:
        return Caution(
            f"{shown} works, but gets no more security updates",
            f"install Node.js {OLDEST_MAINTAINED_NODE} or newer",
        )
    return Ok(shown)
