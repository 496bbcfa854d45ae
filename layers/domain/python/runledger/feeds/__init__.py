"""The event feed: typed events for each installation, derived from the tables, and the feed's only writer."""
