"""The deployed resources: one file for each stack, and the settings."""
