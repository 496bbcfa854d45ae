"""One module per command."""

from runledger_cli.commands import installations, job, jobs, orphans, reconcile, run, stats, stuck, tail, token

COMMANDS = (jobs, job, run, stats, stuck, orphans, reconcile, tail, installations, token)
