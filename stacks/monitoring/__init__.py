"""Alarms, graphs and saved queries for the deployed resources."""
