"""Random worlds of the whole system."""
