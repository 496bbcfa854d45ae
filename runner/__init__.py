"""What a container with a GitHub runner starts with: plain Python without dependencies, to be copied into any image."""
