"""What operators do: manage subscriptions, send tests and texts, and send failed messages again."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from runledger.model import times
from runledger.model.errors import Malformed
from runledger.model.messages import MessageStatus
from runledger.notifications import messages, payloads, requests
from runledger.notifications.channels import configs
from runledger.notifications.channels.configs import ONLY_TYPES, ChannelSettings
from runledger.notifications.channels.delivery import ChannelKind
from runledger.notifications.messages import NewMessage
from runledger.notifications.outbox import Outbox
from runledger.notifications.secrets import SecretStore
from runledger.notifications.subscriptions import MOST_SUBSCRIPTIONS, Subscription
from runledger.notifications.texts import OwnType
from runledger.tables.message_counts import MessageCounts
from runledger.tables.receivers import ReceiversTable
from runledger.tables.subscriptions import SubscriptionsTable

# For so long after a rotation, messages are signed with both secrets.
ROTATION_SECONDS = times.SECONDS_PER_DAY
# A new subscription counts as so many messages. A deleted secret is kept for a week, and counts towards the 500,000
# secrets of the account: without a limit, an operator could use them up by creating and deleting.
MESSAGES_OF_A_CREATION = 50
TEST_TEXT = "This is a test of the subscription {name}. If you can read it, the channel works."


class Contended(Exception):
    """Another caller changed the subscription at the same time."""


class TooManyMessages(Exception):
    """The installation has had its messages of this hour."""


class NotSendable(Exception):
    """Its message is the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Author:
    """Who asks, when, and in which request."""

    id: str
    at: str
    correlation_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Administration:
    subscriptions: SubscriptionsTable
    receivers: ReceiversTable
    secrets: SecretStore
    outbox: Outbox
    channels: ChannelSettings
    counts: MessageCounts

    def all(self, installation_id: int) -> list[Subscription]:
        found = [Subscription.from_item(item) for item in self.subscriptions.all(installation_id)]
        return sorted(found, key=lambda each: (each.created_at, each.subscription_id))

    def get(self, installation_id: int, subscription_id: str) -> Subscription | None:
        item = self.subscriptions.get(installation_id, subscription_id)
        return Subscription.from_item(item) if item else None

    def create(
        self, installation_id: int, values: Mapping[str, Any], author: Author, *, own_urls: tuple[str, ...]
    ) -> tuple[Subscription, str | None]:
        """The subscription, and its secret if it was generated here. Malformed if it isn't valid."""
        if len(self.subscriptions.all(installation_id)) >= MOST_SUBSCRIPTIONS:
            raise NotSendable(f"This installation has {MOST_SUBSCRIPTIONS} subscriptions already: remove one first")
        kind, settings = requests.kind_of(values.get("kind")), replace(self.channels, own_urls=own_urls)
        given = {name: value for name, value in values.items() if name not in ("kind", "secret")}
        if "name" not in given:
            raise Malformed("name", "is missing")
        new = Subscription(
            installation_id=installation_id,
            subscription_id=uuid.uuid4().hex,
            name="",
            kind=kind,
            created_at=author.at,
            created_by=author.id,
            updated_at=author.at,
            schedule_since=author.at,
        )
        if kind in ONLY_TYPES:
            given.setdefault("types", list(ONLY_TYPES[kind]))
        found = requests.described(new, given, settings)
        secret = configs.check_secret(kind, found.config, values.get("secret"), settings)
        self._count(installation_id, MESSAGES_OF_A_CREATION, author)
        if secret is not None:
            # First, so that no subscription is without its secret.
            found = replace(found, secret_name=self.secrets.name(installation_id, found.subscription_id))
            self.secrets.create(str(found.secret_name), secret)
        try:
            self.subscriptions.create(found.to_item())
        except Exception:
            # Each secret costs money, and no subscription would delete this one. After a lost response, the
            # subscription may exist: its messages fail then, and an operator deletes it.
            if found.secret_name:
                self.secrets.delete(found.secret_name)
            raise
        return found, None if "secret" in values else secret

    def change(
        self, subscription: Subscription, values: Mapping[str, Any], author: Author, *, own_urls: tuple[str, ...]
    ) -> Subscription:
        found = requests.described(subscription, values, replace(self.channels, own_urls=own_urls))
        if _needs_another_secret(subscription, found):
            raise Malformed("config", "must keep the server of its url: create another subscription instead")
        return self._replace(subscription, found, author)

    def rotate(
        self, subscription: Subscription, secret: str | None, author: Author, *, own_urls: tuple[str, ...]
    ) -> tuple[Subscription, str | None]:
        """The secret too if it was generated here.

        The subscription first: from then on, messages are signed with the previous secret too, if there is one.
        """
        if subscription.secret_name is None:
            raise NotSendable("This subscription has no secret")
        settings = replace(self.channels, own_urls=own_urls)
        checked = configs.check_secret(subscription.kind, subscription.config, secret, settings)
        if checked is None:
            raise Malformed("secret", "is missing")
        until = times.earlier(author.at, seconds=-ROTATION_SECONDS)
        changed = self._replace(subscription, replace(subscription, previous_secret_until=until), author)
        self.secrets.replace(subscription.secret_name, checked)
        return changed, checked if secret is None else None

    def delete(self, subscription: Subscription) -> None:
        """The secret last: messages that are sent meanwhile still need it."""
        self.subscriptions.delete(subscription.installation_id, subscription.subscription_id)
        self.receivers.forget(subscription.installation_id, subscription.subscription_id)
        if subscription.secret_name:
            self.secrets.delete(subscription.secret_name)

    def test(self, subscription: Subscription, author: Author) -> NewMessage:
        if not subscription.enabled:
            raise NotSendable("This subscription is disabled: enable it, then test it")
        self._count(subscription.installation_id, 1, author)
        data = {"title": "Test of Runledger", "text": TEST_TEXT.format(name=subscription.name)}
        return self._post(OwnType.TEST, data, subscription, author, identity=author.correlation_id)

    def post(
        self, installation_id: int, data: Mapping[str, Any], author: Author, *, to: str | None, own_id: str | None
    ) -> list[NewMessage]:
        """A text of a person, for one subscription or for all. With the same `own_id`, it is sent once."""
        checked = payloads.check_text(data)
        found = [each for each in self.all(installation_id) if to in (None, each.subscription_id) and _takes_text(each)]
        if not found:
            raise NotSendable("There is no enabled subscription that this message could go to")
        self._count(installation_id, len(found), author)
        identity = f"{author.id}\0{own_id}" if own_id else author.correlation_id
        return [self._post(OwnType.MESSAGE, checked, each, author, identity=identity) for each in found]

    def send_again(self, message: Mapping[str, Any], author: Author) -> NewMessage:
        scope = message["installation_id"]
        if message["status"] != MessageStatus.FAILED:
            raise NotSendable(f"The message is {message['status']}: only failed messages can be sent again")
        subscription = self.get(scope, message["subscription_id"])
        if subscription is None or not subscription.enabled:
            raise NotSendable("The subscription of this message was deleted or is disabled")
        payload = self.outbox.messages.payload(scope, message["message_id"])
        if payload is None:
            raise NotSendable("The payload of this message has expired")
        self._count(scope, 1, author)
        again = messages.sent_again(
            message, payload, at=author.at, created_by=author.id, correlation_id=author.correlation_id
        )
        self.outbox.post(again)
        self.outbox.messages.mark_resent(scope, message["message_id"], resent_as=again.message_id)
        return again

    def _count(self, installation_id: int, number: int, author: Author) -> None:
        if not self.counts.count(installation_id, number, at=author.at):
            most = self.counts.most_per_hour
            raise TooManyMessages(
                f"This installation has reached its limit of {most} messages an hour: try again later"
            )

    def _post(
        self, kind: OwnType, data: Mapping[str, Any], subscription: Subscription, author: Author, *, identity: str
    ) -> NewMessage:
        message = messages.own_message(
            kind,
            data,
            subscription,
            identity=identity,
            at=author.at,
            created_by=author.id,
            correlation_id=author.correlation_id,
        )
        self.outbox.post(message)
        return message

    def _replace(self, read: Subscription, found: Subscription, author: Author) -> Subscription:
        was_due = found.schedule == read.schedule and (read.enabled or not found.enabled)
        since = read.schedule_since if was_due else author.at
        changed = replace(found, version=read.version + 1, updated_at=author.at, schedule_since=since)
        if not self.subscriptions.replace(changed.to_item(), read_version=read.version):
            raise Contended
        return changed


def _takes_text(subscription: Subscription) -> bool:
    return subscription.enabled and subscription.kind not in ONLY_TYPES


def _needs_another_secret(before: Subscription, after: Subscription) -> bool:
    """Without a URL, the secret of a channel is the URL.

    A token of ntfy is sent to the receiver, and a launcher's signature never expires. The operator that changes the URL
    may be another than the one that entered the secret, so neither is sent to another server.
    """
    if ("url" in before.config) != ("url" in after.config):
        return True
    is_bound = before.kind in (ChannelKind.NTFY, ChannelKind.RELAUNCH) and before.secret_name is not None
    return (
        is_bound
        and "url" in before.config
        and configs.place(before.config["url"]) != configs.place(after.config["url"])
    )
