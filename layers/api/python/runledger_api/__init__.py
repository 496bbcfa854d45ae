"""The HTTP API: who may ask, what is asked, and how it is answered. Only the `api` function has this layer."""

# Before anything else of Powertools, whose package file it keeps from being run.
from runledger import telemetry

__all__ = ["telemetry"]
