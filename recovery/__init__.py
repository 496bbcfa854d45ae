"""Brings back what a deployment has lost. docs/runbook.md describes when to use it."""
