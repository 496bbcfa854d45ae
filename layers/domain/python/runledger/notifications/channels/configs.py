"""Checks the configuration and the secret of each kind of channel when a subscription is saved. Pure.

Errors name the invalid field and never contain its value, which may be a misplaced secret.
"""

import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from dataclasses import field
from secrets import token_bytes
from typing import Any
from urllib.parse import urlsplit

from runledger.feeds.events import FeedType
from runledger.model.dataclass import dataclass
from runledger.model.errors import Malformed
from runledger.notifications.channels import urls
from runledger.notifications.channels.interface import ChannelKind
from runledger.notifications.texts import HIGHEST_PRIORITY, LOWEST_PRIORITY, MOST_TAGS, is_priority, is_tag

SECRET_PREFIX = "whsec_"  # noqa: S105 - every Standard Webhooks secret begins with it
SECRET_BYTES, LEAST_SECRET_BYTES, MOST_SECRET_BYTES = 32, 24, 64
LONGEST_SECRET = 1000
SLACK_HOSTS = ("hooks.slack.com", "hooks.slack-gov.com")
TOPIC = re.compile(r"/[-_A-Za-z0-9]{1,64}")

VISIBLE = re.compile(r"[!-~]+")
OWNER_TYPES = ("Organization", "User")
# Subscriptions of these kinds must be limited to these types.
ONLY_TYPES: Mapping[ChannelKind, tuple[str, ...]] = {ChannelKind.RELAUNCH: (FeedType.RUNNER_REQUESTED,)}

Config = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelSettings:
    """The deployment's settings. `sns_topics` and `event_buses` map names to ARNs: users can't choose others.

    Messages to `deployment_urls` are rejected: this deployment's own URLs. `allow_loopback` is for local tests.
    """

    sns_topics: Mapping[str, str] = field(default_factory=dict)
    event_buses: Mapping[str, str] = field(default_factory=dict)
    deployment_urls: tuple[str, ...] = ()
    slack_hosts: tuple[str, ...] = SLACK_HOSTS
    runner_requests_at_most: int
    stuck_queued_minutes: int
    allow_loopback: bool = False


def check(kind: ChannelKind, config: Config, settings: ChannelSettings) -> dict[str, Any]:
    """The normalised configuration. Raises Malformed if it isn't valid for this kind."""
    allowed, checked = CHECKS[kind]
    if unknown := sorted(config.keys() - allowed):
        raise Malformed(unknown[0], f"isn't a field of the channel {kind}; {_listed(allowed)}")
    return checked(config, settings)


def check_secret(kind: ChannelKind, config: Config, secret: str | None, settings: ChannelSettings) -> str | None:
    """The secret to store. If none is given for a webhook, a new secret, which the caller has to show once.

    `config` is a result of `check`. Raises Malformed if the secret isn't valid for this kind.
    """
    return SECRETS[kind](config, secret, settings)


def new_secret() -> str:
    return SECRET_PREFIX + b64encode(token_bytes(SECRET_BYTES)).decode()


def secret_bytes(secret: str) -> bytes:
    """The key of a Standard Webhooks secret. Raises ValueError if it isn't valid: even an empty key could sign."""
    key = b64decode(secret.removeprefix(SECRET_PREFIX), validate=True) if secret.startswith(SECRET_PREFIX) else b""
    if not LEAST_SECRET_BYTES <= len(key) <= MOST_SECRET_BYTES:
        raise ValueError(f"a secret is {SECRET_PREFIX} and {LEAST_SECRET_BYTES} to {MOST_SECRET_BYTES} bytes in Base64")
    return key


def slack_target(secret: object, settings: ChannelSettings) -> urls.Target:
    """The URL of an incoming webhook. It is a secret, because anyone who has it can post."""
    found = receiver(secret, settings, field="secret")
    is_local = settings.allow_loopback and not found.is_encrypted
    if found.host not in settings.slack_hosts and not is_local:
        raise Malformed("secret", f"must be the URL of an incoming webhook at {' or '.join(settings.slack_hosts)}")
    return found


def topic_target(text: object, settings: ChannelSettings, *, field: str) -> urls.Target:
    found = receiver(text, settings, field=field)
    if not TOPIC.fullmatch(found.path):
        raise Malformed(field, "must be the URL of a topic, for example https://ntfy.sh/my-topic")
    return found


def receiver(text: object, settings: ChannelSettings, *, field: str) -> urls.Target:
    """Raises Malformed for a URL of this deployment, because a message to it could lead to the next message."""
    if text is None:
        raise Malformed(field, "is missing")
    found = urls.target(text, field=field, allow_loopback=settings.allow_loopback)
    if (found.host, found.port) in set(map(place, settings.deployment_urls)):
        raise Malformed(field, "must not be a URL of this deployment")
    return found


def place(url: str) -> tuple[str, int]:
    """Host and port. Doesn't use `urls.target`, because the deployment itself may have a private address."""
    parts = urlsplit(url)
    return (parts.hostname or "").removesuffix("."), parts.port or urls.PORTS[parts.scheme]


def _webhook(config: Config, settings: ChannelSettings) -> dict[str, Any]:
    return {"url": receiver(config.get("url"), settings, field="url").url}


def _slack(_config: Config, _settings: ChannelSettings) -> dict[str, Any]:
    return {}


def _ntfy(config: Config, settings: ChannelSettings) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if config.get("url") is not None:
        found["url"] = topic_target(config["url"], settings, field="url").url
    if (priority := config.get("priority")) is not None:
        if not is_priority(priority):
            lowest, highest = LOWEST_PRIORITY, HIGHEST_PRIORITY
            raise Malformed("priority", f"must be a number from {lowest} (lowest) to {highest} (highest)")
        found["priority"] = priority
    if (tags := config.get("tags")) is not None:
        if not isinstance(tags, list) or len(tags) > MOST_TAGS or not all(map(is_tag, tags)):
            raise Malformed("tags", f"must be a list of at most {MOST_TAGS} ntfy tags, for example warning")
        found["tags"] = tags
    return found


def _relaunch(config: Config, settings: ChannelSettings) -> dict[str, Any]:
    owner_type = config.get("owner_type", OWNER_TYPES[0])
    if owner_type not in OWNER_TYPES:
        raise Malformed("owner_type", f"must be {' or '.join(OWNER_TYPES)}")
    found = {"url": receiver(config.get("url"), settings, field="url").url, "owner_type": owner_type}
    if (installation_id := config.get("installation_id")) is not None:
        if type(installation_id) is not int or installation_id <= 0:
            raise Malformed("installation_id", "must be the id of the installation of the launcher's GitHub App")
        found["installation_id"] = installation_id
    return found


def _topic(config: Config, settings: ChannelSettings) -> dict[str, Any]:
    return _named(config, settings.sns_topics, setting="notification_sns_topics")


def _bus(config: Config, settings: ChannelSettings) -> dict[str, Any]:
    return _named(config, settings.event_buses, setting="notification_event_buses")


def _named(config: Config, targets: Mapping[str, str], *, setting: str) -> dict[str, Any]:
    target = config.get("target")
    if not isinstance(target, str) or target not in targets:
        names = ", ".join(sorted(targets)) or "none"
        raise Malformed("target", f"must be a name from this deployment's setting {setting}: {names}")
    return {"target": target}


def _webhook_secret(_config: Config, secret: str | None, _settings: ChannelSettings) -> str:
    if secret is None:
        return new_secret()
    try:
        secret_bytes(secret)
    except ValueError:
        raise Malformed(
            "secret",
            f"must be {SECRET_PREFIX} followed by {LEAST_SECRET_BYTES} to {MOST_SECRET_BYTES} random bytes in "
            "Base64; omit it to have one generated",
        ) from None
    return secret


def _slack_secret(_config: Config, secret: str | None, settings: ChannelSettings) -> str:
    return slack_target(secret, settings).url


def _ntfy_secret(config: Config, secret: str | None, settings: ChannelSettings) -> str | None:
    """Without `url`, the secret is the URL of the topic, because the name of a public topic works like a password."""
    if "url" not in config:
        if secret is None:
            raise Malformed("secret", "must be the URL of the topic, unless url is given")
        return topic_target(secret, settings, field="secret").url
    if secret is not None and (len(secret) > LONGEST_SECRET or not VISIBLE.fullmatch(secret)):
        raise Malformed("secret", f"must be an access token of at most {LONGEST_SECRET} ASCII characters")
    return secret


def _launcher_secret(_config: Config, secret: str | None, _settings: ChannelSettings) -> str:
    if not secret or len(secret) > LONGEST_SECRET or not secret.isprintable():
        raise Malformed("secret", "must be the webhook secret of the launcher's GitHub App")
    return secret


def _no_secret(_config: Config, secret: str | None, _settings: ChannelSettings) -> None:
    if secret is not None:
        raise Malformed("secret", "isn't used by this channel: the deployment grants access")


def _listed(names: frozenset[str]) -> str:
    return f"it has {', '.join(sorted(names))}" if names else "it has no fields"


CHECKS: Mapping[ChannelKind, tuple[frozenset[str], Callable[[Config, ChannelSettings], dict[str, Any]]]] = {
    ChannelKind.WEBHOOK: (frozenset({"url"}), _webhook),
    ChannelKind.SLACK: (frozenset(), _slack),
    ChannelKind.NTFY: (frozenset({"url", "priority", "tags"}), _ntfy),
    ChannelKind.SNS: (frozenset({"target"}), _topic),
    ChannelKind.EVENTBRIDGE: (frozenset({"target"}), _bus),
    ChannelKind.RELAUNCH: (frozenset({"url", "owner_type", "installation_id"}), _relaunch),
}
SECRETS: Mapping[ChannelKind, Callable[[Config, str | None, ChannelSettings], str | None]] = {
    ChannelKind.WEBHOOK: _webhook_secret,
    ChannelKind.SLACK: _slack_secret,
    ChannelKind.NTFY: _ntfy_secret,
    ChannelKind.SNS: _no_secret,
    ChannelKind.EVENTBRIDGE: _no_secret,
    ChannelKind.RELAUNCH: _launcher_secret,
}
