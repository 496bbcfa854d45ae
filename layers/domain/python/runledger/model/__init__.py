"""What is true of jobs, machines, runs and approvals, and the rules that change it. Pure: the standard library only."""
