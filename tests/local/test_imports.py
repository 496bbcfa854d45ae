"""`make run` starts without the layers on its path."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


MODULES = ("local.__main__", "local.github.__main__", "local.aws.gateway", "local.screenshots")


@pytest.mark.parametrize("module", MODULES)
def test_the_local_tools_load_without_the_layers(module: str) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    subprocess.run([sys.executable, "-c", f"import {module}"], cwd=ROOT, env=environment, check=True)
