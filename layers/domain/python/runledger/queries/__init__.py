"""What the API reads: statistics, pools, cached runs and deployments."""
