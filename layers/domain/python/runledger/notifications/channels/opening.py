"""Opens the channel of a subscription. Only the sender loads this."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

from runledger.model.dataclass import dataclass
from runledger.model.errors import Malformed
from runledger.notifications.channels import configs, urls
from runledger.notifications.channels.aws import EventBus, SnsTopic
from runledger.notifications.channels.configs import ChannelSettings, Config
from runledger.notifications.channels.connection import Http
from runledger.notifications.channels.interface import Channel, ChannelKind
from runledger.notifications.channels.ntfy import Ntfy
from runledger.notifications.channels.posting import Refusing
from runledger.notifications.channels.relaunch import Limits, Relaunch
from runledger.notifications.channels.slack import Slack
from runledger.notifications.channels.webhook import Webhook
from runledger.platform.clients import lazy_client

Secrets = Sequence[str]


@dataclass(frozen=True, kw_only=True)
class Channels:
    """Reuse one instance: it caches objects that are slow to create. `client` takes an AWS service and a region."""

    settings: ChannelSettings
    http: Http | None = None
    client: Callable[[str, str], Any] = lazy_client

    def open(self, kind: ChannelKind, config: Config, secrets: Secrets) -> Channel:
        """`secrets` has the newest first. If the configuration is no longer valid, the channel refuses all messages.

        The configuration is checked again, because the deployment's settings may have changed since it was saved.
        """
        try:
            checked = configs.check(kind, config, self.settings)
            return self._kinds[kind](checked, secrets)
        except Malformed as problem:
            return Refusing(reason=f"the channel can't be used: {problem}")

    @cached_property
    def _http(self) -> Http:
        return self.http or Http(allow_loopback=self.settings.allow_loopback)

    @property
    def _kinds(self) -> Mapping[ChannelKind, Callable[[Config, Secrets], Channel]]:
        return {
            ChannelKind.WEBHOOK: self._webhook,
            ChannelKind.SLACK: self._slack,
            ChannelKind.NTFY: self._ntfy,
            ChannelKind.SNS: self._topic,
            ChannelKind.EVENTBRIDGE: self._bus,
            ChannelKind.RELAUNCH: self._relaunch,
        }

    def _webhook(self, config: Config, secrets: Secrets) -> Channel:
        return Webhook(http=self._http, target=self._target(config["url"]), secrets=tuple(secrets))

    def _slack(self, _config: Config, secrets: Secrets) -> Channel:
        return Slack(http=self._http, target=configs.slack_target(_newest(secrets), self.settings))

    def _ntfy(self, config: Config, secrets: Secrets) -> Channel:
        if "url" in config:
            target, token = self._target(config["url"]), secrets[0] if secrets else None
        else:
            target, token = configs.topic_target(_newest(secrets), self.settings, field="secret"), None
        return Ntfy(http=self._http, target=target, token=token, config=config)

    def _topic(self, config: Config, _secrets: Secrets) -> Channel:
        arn = self.settings.sns_topics[config["target"]]
        return SnsTopic(sns=self.client("sns", _region(arn)), arn=arn)

    def _bus(self, config: Config, _secrets: Secrets) -> Channel:
        arn = self.settings.event_buses[config["target"]]
        return EventBus(events=self.client("events", _region(arn)), arn=arn)

    def _relaunch(self, config: Config, secrets: Secrets) -> Channel:
        limits = Limits(
            requests_at_most=self.settings.runner_requests_at_most,
            first_pause_minutes=self.settings.stuck_queued_minutes,
        )
        about = {name: value for name, value in config.items() if name != "url"}
        target, secret = self._target(config["url"]), _newest(secrets)
        return Relaunch(http=self._http, target=target, secret=secret, limits=limits, config=about)

    def _target(self, url: str) -> urls.Target:
        return configs.receiver(url, self.settings, field="url")


def _region(arn: str) -> str:
    """`arn:aws:sns:REGION:ACCOUNT:NAME`. Only a client for this region can publish to it."""
    return arn.split(":")[3]


def _newest(secrets: Secrets) -> str:
    if not secrets:
        raise Malformed("secret", "is missing")
    return secrets[0]
