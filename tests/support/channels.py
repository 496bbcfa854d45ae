"""The settings of channels, with limits like those of a deployment."""

from typing import Any

from runledger.notifications.channels.configs import ChannelSettings


def channel_settings(**changes: Any) -> ChannelSettings:
    return ChannelSettings(**{"runner_requests_at_most": 5, "stuck_queued_minutes": 10} | changes)
