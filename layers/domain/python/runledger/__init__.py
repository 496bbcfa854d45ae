"""Runledger's domain: what a job is, how inputs change it, and where that is kept."""
