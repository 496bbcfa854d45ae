"""AWS clients, the metric format, and batches of queue messages."""
