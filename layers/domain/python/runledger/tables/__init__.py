"""One module per table. `schema` defines what the stacks deploy and these modules use."""
