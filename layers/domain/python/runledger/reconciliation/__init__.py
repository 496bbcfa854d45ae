"""Finding and healing what nobody told us of: stuck jobs, orphaned runners, lost webhooks.

What is true is asked of GitHub and AWS; what follows from it is decided by pure functions (`stuck`, `orphans`) and
written through the same ledger as everything else, so that any number of passes may run at the same time.
"""
