"""Releases: heads of branches and environments, packages, builds and release lines."""
