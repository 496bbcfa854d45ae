"""Channels: each delivers one event to one receiver. Only the sender loads those that use the network."""
