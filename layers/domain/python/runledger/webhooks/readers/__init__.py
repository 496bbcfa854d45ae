"""Readers of GitHub's JSON. One module per kind: webhooks and the REST API use the same format."""
