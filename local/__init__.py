"""Runledger on one machine: an emulated AWS (`aws`), a simulated GitHub (`github`) and a demo workload (`demo`)."""

from pathlib import Path

ROOT = Path(__file__).parent.parent
