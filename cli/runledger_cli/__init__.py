"""The `runledger` command, a client of the HTTP API that depends only on Python's standard library."""

__version__ = "0.1.0"
