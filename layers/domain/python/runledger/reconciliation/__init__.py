"""Compares the ledger with GitHub and AWS: finds stuck jobs, orphaned runners and lost webhooks, and corrects them.

GitHub and AWS are the source of truth. Pure functions (`model.stuck`, `orphans`) decide what to do, and corrections are
recorded like any other input. So any number of passes may run at the same time.
"""
