"""Finds and repairs what webhooks and events missed: stuck jobs, orphaned runners, lost webhooks.

A pass reads the state from GitHub and AWS. Pure functions (`stuck`, `orphans`) decide what to do, and the ledger
records it like any other input. So any number of passes can run at the same time.
"""
