"""What the stacks are made of: functions, layers, queues and secrets."""
