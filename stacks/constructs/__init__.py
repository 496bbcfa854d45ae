"""The parts of the stacks: functions, layers, queues and secrets."""
