"""One module per table; `schema` is what the stacks deploy and these modules read and write."""
