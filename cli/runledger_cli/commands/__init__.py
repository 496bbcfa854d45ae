"""One module per command."""

from runledger_cli.commands import (
    installations,
    job,
    jobs,
    migrate,
    orphans,
    pools,
    reconcile,
    repositories,
    run,
    stats,
    stuck,
    tail,
    token,
    verify,
)

COMMANDS = (
    jobs,
    job,
    run,
    stats,
    repositories,
    pools,
    stuck,
    orphans,
    reconcile,
    tail,
    installations,
    token,
    migrate,
    verify,
)
