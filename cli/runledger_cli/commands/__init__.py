"""One file for each command: what it takes, what it asks, and what it shows."""

from runledger_cli.commands import installations, job, jobs, orphans, reconcile, run, stats, stuck, tail

COMMANDS = (jobs, job, run, stats, stuck, orphans, reconcile, tail, installations)
