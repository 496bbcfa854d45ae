"""What is deployed: one file for each stack, and the settings."""
