"""Builds GitHub's JSON documents from the records."""
