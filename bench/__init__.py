"""Measures cost and speed of Runledger against baselines: `make bench`."""
