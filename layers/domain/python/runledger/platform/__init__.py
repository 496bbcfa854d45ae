"""AWS clients, logs, metrics, and batches of queue messages."""
