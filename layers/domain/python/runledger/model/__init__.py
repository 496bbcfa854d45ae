"""Jobs, machines, runs and approvals, and the rules that change them. Pure: the standard library only."""
