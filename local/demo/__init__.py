"""The demo workload: jobs of several repositories, with every failure that Runledger handles."""
