"""The schema, which the stacks also read, and the access to each table."""
