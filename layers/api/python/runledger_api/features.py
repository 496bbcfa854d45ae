"""Optional features of a deployment. A request for a feature that is turned off gets 404."""

from runledger_api import wiring
from runledger_api.errors import NotFound
from runledger_api.wiring import Feed, Notifications, Releases


def require_feed() -> Feed:
    found = wiring.feed()
    if found is None:
        raise NotFound("This deployment has no event feed: the setting feeds turns it on")
    return found


def require_notifications() -> Notifications:
    found = wiring.notifications()
    if found is None:
        raise NotFound("This deployment has no notifications: the setting notifications turns them on")
    return found


def require_releases() -> Releases:
    found = wiring.releases()
    if found is None:
        raise NotFound("This deployment has no heads and releases: the setting releases turns them on")
    return found
