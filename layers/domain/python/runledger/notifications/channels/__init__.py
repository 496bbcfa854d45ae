"""Channels: each sends one message to one receiver. Only the sender loads the modules that use the network."""
