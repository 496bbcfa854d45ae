"""A simulated GitHub: the part of its REST API that Runledger uses, its webhooks, and injected faults."""

from local.github.server import SimulatedGitHub

__all__ = ["SimulatedGitHub"]
