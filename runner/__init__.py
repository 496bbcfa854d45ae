"""The entrypoint of a GitHub runner container: Python without dependencies, to copy into any image."""
