"""`runledger migrate` and `runledger verify`: they run in a checkout, because they use the code of the functions."""
