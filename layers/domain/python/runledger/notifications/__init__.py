"""Notifications: subscriptions to events of the feed, their messages, and the channels that deliver them."""
