from __future__ import annotations

from typing import TYPE_CHECKING

from runledger_cli import checkout
from runledger_cli.migration import options
from runledger_cli.options import add_command

if TYPE_CHECKING:
    from runledger_cli.options import Commands
    from runledger_cli.session import Session

EXAMPLES = "runledger verify s3://acme-runners\nrunledger verify s3://acme-runners --stage staging --json"


def add_to(commands: Commands) -> None:
    parser = add_command(
        commands, "verify", run, summary="compare webhooks in S3 or a folder with the ledger", examples=EXAMPLES
    )
    options.add(parser)


def run(session: Session) -> int:
    checkout.use_domain()
    from runledger_cli.migration import verifying  # noqa: PLC0415 - it needs boto3 and a checkout

    return verifying.run(session)
