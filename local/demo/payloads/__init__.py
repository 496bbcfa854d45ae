"""Webhook payloads of the demo, built from GitHub's own examples."""
