"""Helpers of the tests: payloads, events, tables, templates and deployments."""
