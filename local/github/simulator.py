"""Starts the simulated GitHub as a separate process."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from local import ROOT
from local.processes import Process, Server, clean_environment, free_port

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def start(server: Server, port: int) -> Process:
    return server.start(
        [sys.executable, "-m", "local.github", "--port", str(port)],
        port=port,
        health_path="/rate_limit",
        environment=clean_environment(),
        working_folder=ROOT,
    )


@contextmanager
def running(folder: Path) -> Iterator[str]:
    """Yield the URL of a simulated GitHub for one test session."""
    server = Server("simulated GitHub", folder / "github")
    try:
        yield start(server, free_port()).url
    finally:
        server.stop()
