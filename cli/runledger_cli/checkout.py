"""The code of the functions, for commands that must decide as they do. Only a checkout contains it."""

from __future__ import annotations

import sys
from pathlib import Path

from runledger_cli.errors import UsageError

DOMAIN = Path(__file__).parents[2] / "layers" / "domain" / "python"


def use_domain() -> None:
    """Makes the package `runledger` importable."""
    if not (DOMAIN / "runledger").is_dir():
        raise UsageError(
            "this command needs a checkout of Runledger: run `make install` there, then .venv/bin/runledger"
        )
    if str(DOMAIN) not in sys.path:
        sys.path.append(str(DOMAIN))
    try:
        import aws_lambda_powertools  # noqa: F401, PLC0415
        import boto3  # noqa: F401, PLC0415
    except ImportError as error:
        raise UsageError(f"{error.name} is missing: run `make install` first, then .venv/bin/runledger") from error
