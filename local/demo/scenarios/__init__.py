"""What happens to the jobs of the demo, one function per scenario."""
