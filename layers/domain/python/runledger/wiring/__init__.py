"""Settings from the environment, and the objects that each function needs."""
