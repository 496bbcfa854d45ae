"""Readers of GitHub's JSON, one module per kind; what a webhook carries has the shape of what the REST API answers."""
