"""Alarms, graphs and saved queries over what the stacks deploy."""
