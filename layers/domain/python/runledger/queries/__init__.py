"""The queries of the API: statistics, pools, cached runs and deployments, and its requests to other functions."""
