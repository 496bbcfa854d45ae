"""Machines: launcher events, EC2 and ECS events, lookups, prices and re-runs."""
