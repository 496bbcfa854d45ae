"""One module per command."""

from runledger_cli.commands import (
    installations,
    job,
    jobs,
    orphans,
    pools,
    reconcile,
    repositories,
    run,
    stats,
    stuck,
    tail,
    token,
)

COMMANDS = (jobs, job, run, stats, repositories, pools, stuck, orphans, reconcile, tail, installations, token)
