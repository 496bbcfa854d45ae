"""The `runledger` command: questions to the ledger's API from a terminal, with Python's standard library alone."""

__version__ = "0.1.0"
