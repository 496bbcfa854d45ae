"""What Runledger costs and how fast it is, measured beside what it could be: `make bench`."""
