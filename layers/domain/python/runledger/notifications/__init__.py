"""Notifications: subscriptions to feed events, their messages, and the channels that send them."""
