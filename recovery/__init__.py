"""Restores lost data of a deployment. docs/runbook.md describes when to use it."""
