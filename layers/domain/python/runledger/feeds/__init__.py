"""The event feed: typed events of each installation, derived from the tables, and its only writer."""
