"""The whole of Runledger on one machine: the embedded AWS, its deployment, and a demo workload."""
