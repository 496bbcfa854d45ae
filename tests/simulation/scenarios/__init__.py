"""One small file per scenario: its inputs in the order of events, and what its jobs and machines are in the end."""
