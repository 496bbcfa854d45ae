"""MiniStack, the emulated AWS: deploys the real templates and runs the functions as local processes."""

from __future__ import annotations

import shutil
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from local import ROOT
from local.processes import Process, Server, clean_environment, free_port

if TYPE_CHECKING:
    from collections.abc import Iterator

REGION = "us-east-1"
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}


def start(server: Server, port: int) -> Process:
    temporary = server.folder / "tmp"  # unpacked functions, which the emulator doesn't delete
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(parents=True)
    return server.start(
        [sys.executable, "-m", "local.aws.gateway"],
        port=port,
        health_path="/_ministack/health",
        environment=clean_environment(
            **CREDENTIALS,
            AUTH="true",  # enforces each function's IAM role, so a missing permission fails locally
            GATEWAY_PORT=str(port),
            MINISTACK_REGION=REGION,
            LOG_LEVEL="INFO",
            TMPDIR=str(temporary),
            STATE_DIR=str(server.folder / "state"),
            S3_DATA_DIR=str(server.folder / "s3"),
            IOT_MTLS_ENABLED="0",  # would listen on every interface
            SFTP_ENABLED="0",
        ),
        working_folder=ROOT,
    )


@contextmanager
def running(folder: Path) -> Iterator[str]:
    """Yield the URL of an emulator for one test session."""
    server = Server("emulated AWS", folder / "aws")
    try:
        yield start(server, free_port()).url
    finally:
        server.stop()
