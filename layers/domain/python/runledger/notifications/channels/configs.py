"""The configuration and the secret of each kind of channel, checked when a subscription is saved. Pure.

Errors name the field at fault and never contain its value: it may be a misplaced secret.
"""

import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from secrets import token_bytes
from typing import Any
from urllib.parse import urlsplit

from runledger.feeds.events import FeedType
from runledger.model.errors import Malformed
from runledger.notifications.channels import urls
from runledger.notifications.channels.delivery import ChannelKind

SECRET_PREFIX = "whsec_"  # noqa: S105 - what every secret of Standard Webhooks begins with
SECRET_BYTES, LEAST_SECRET_BYTES, MOST_SECRET_BYTES = 32, 24, 64
LONGEST_SECRET = 1000
SLACK_HOSTS = ("hooks.slack.com", "hooks.slack-gov.com")
TOPIC = re.compile(r"/[-_A-Za-z0-9]{1,64}")
TAG = re.compile(r"[-+_a-z0-9]{1,50}")
MOST_TAGS = 5
PRIORITIES = range(1, 6)
VISIBLE = re.compile(r"[!-~]+")
OWNER_TYPES = ("Organization", "User")
# What a subscription of this kind must be limited to.
ONLY_TYPES: Mapping[ChannelKind, tuple[str, ...]] = {ChannelKind.RELAUNCH: (FeedType.RUNNER_REQUESTED,)}

Config = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelSettings:
    """Of the deployment. `sns_topics` and `event_buses` map names to ARNs: users can't choose others.

    `own_urls` are those of this deployment, which no message is sent to. `allow_loopback` is for tests on one machine.
    """

    sns_topics: Mapping[str, str] = field(default_factory=dict)
    event_buses: Mapping[str, str] = field(default_factory=dict)
    own_urls: tuple[str, ...] = ()
    slack_hosts: tuple[str, ...] = SLACK_HOSTS
    runner_requests_at_most: int = 5
    stuck_queued_minutes: int = 10
    allow_loopback: bool = False


def check(kind: ChannelKind, config: Config, settings: ChannelSettings) -> dict[str, Any]:
    """The normalised configuration. Malformed if it isn't valid for this kind."""
    allowed, checked = CHECKS[kind]
    if unknown := sorted(config.keys() - allowed):
        raise Malformed(unknown[0], f"isn't a field of the channel {kind}; {_listed(allowed)}")
    return checked(config, settings)


def check_secret(kind: ChannelKind, config: Config, secret: str | None, settings: ChannelSettings) -> str | None:
    """The secret to store. For a webhook without one, a new secret: show it once.

    `config` is one that `check` has returned. Malformed if the secret isn't valid for this kind.
    """
    return SECRETS[kind](config, secret, settings)


def new_secret() -> str:
    return SECRET_PREFIX + b64encode(token_bytes(SECRET_BYTES)).decode()


def secret_bytes(secret: str) -> bytes:
    """The key of a Standard Webhooks secret. ValueError if it isn't one: an empty key would sign everything too."""
    key = b64decode(secret.removeprefix(SECRET_PREFIX), validate=True) if secret.startswith(SECRET_PREFIX) else b""
    if not LEAST_SECRET_BYTES <= len(key) <= MOST_SECRET_BYTES:
        raise ValueError(f"a secret is {SECRET_PREFIX} and {LEAST_SECRET_BYTES} to {MOST_SECRET_BYTES} bytes in Base64")
    return key


def slack_target(secret: object, settings: ChannelSettings) -> urls.Target:
    """The address of an incoming webhook, which is a secret: everyone who has it can post."""
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
    """Malformed if it is an address of this deployment: a message to it could lead to the next one."""
    if text is None:
        raise Malformed(field, "is missing")
    found = urls.target(text, field=field, allow_loopback=settings.allow_loopback)
    if (found.host, found.port) in set(map(place, settings.own_urls)):
        raise Malformed(field, "must not be an address of this deployment")
    return found


def place(url: str) -> tuple[str, int]:
    """Host and port. Not by `urls.target`: the deployment itself may have a private address."""
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
        if type(priority) is not int or priority not in PRIORITIES:
            raise Malformed("priority", "must be a number from 1 (lowest) to 5 (highest)")
        found["priority"] = priority
    if (tags := config.get("tags")) is not None:
        if not isinstance(tags, list) or len(tags) > MOST_TAGS or not all(map(_is_tag, tags)):
            raise Malformed("tags", f"must be a list of at most {MOST_TAGS} tags of ntfy, for example warning")
        found["tags"] = tags
    return found


def _is_tag(value: object) -> bool:
    return isinstance(value, str) and TAG.fullmatch(value) is not None


def _relaunch(config: Config, settings: ChannelSettings) -> dict[str, Any]:
    owner_type = config.get("owner_type", OWNER_TYPES[0])
    if owner_type not in OWNER_TYPES:
        raise Malformed("owner_type", f"must be {' or '.join(OWNER_TYPES)}")
    found = {"url": receiver(config.get("url"), settings, field="url").url, "owner_type": owner_type}
    if (installation_id := config.get("installation_id")) is not None:
        if type(installation_id) is not int or installation_id <= 0:
            raise Malformed("installation_id", "must be the number of the launcher's own installation")
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
        raise Malformed("target", f"must be a name in the setting {setting} of this deployment: {names}")
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
    """Without `url`, the secret is the URL of the topic: the name of a public topic works like a password."""
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
        raise Malformed("secret", "isn't used by this channel: access is granted by the deployment")


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
