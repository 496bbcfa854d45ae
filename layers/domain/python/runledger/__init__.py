"""Runledger's domain: jobs and machines, how inputs change them, and how they are stored."""
