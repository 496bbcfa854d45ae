"""Builders of GitHub's JSON documents from the few facts that the simulation keeps."""
