from __future__ import annotations

from typing import TYPE_CHECKING

from runledger_cli import checkout
from runledger_cli.migration import options
from runledger_cli.options import add_command

if TYPE_CHECKING:
    from runledger_cli.options import Commands
    from runledger_cli.session import Session

EXAMPLES = """\
runledger migrate s3://acme-runners --dry-run
runledger migrate s3://acme-runners --stage staging --rate 50
runledger migrate ./webhooks --map-installation 1111=2222"""


def add_to(commands: Commands) -> None:
    parser = add_command(
        commands, "migrate", run, summary="import webhooks from S3 or a folder into the ledger", examples=EXAMPLES
    )
    options.add(parser)
    parser.add_argument("--dry-run", action="store_true", help="read and decide, but write nothing")
    parser.add_argument(
        "--restart", action="store_true", help="start from the first key, even if an import was interrupted"
    )


def run(session: Session) -> int:
    checkout.use_domain()
    from runledger_cli.migration import importing  # noqa: PLC0415 - it needs boto3 and a checkout

    return importing.run(session)
