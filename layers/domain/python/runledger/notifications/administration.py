"""The operators' actions: manage subscriptions, send tests and user messages, and send failed messages again."""

import uuid
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from runledger.model import times
from runledger.model.dataclass import dataclass
from runledger.model.errors import Malformed
from runledger.model.messages import MessageStatus
from runledger.notifications import messages, payloads, subscription_changes
from runledger.notifications.channels import configs
from runledger.notifications.channels.configs import ONLY_TYPES, ChannelSettings
from runledger.notifications.channels.interface import ChannelKind
from runledger.notifications.messages import Author, NewMessage
from runledger.notifications.outbox import Outbox
from runledger.notifications.secrets import SecretStore
from runledger.notifications.subscriptions import MOST_SUBSCRIPTIONS, Subscription
from runledger.notifications.texts import RunledgerType
from runledger.tables.message_counts import MessageCounts
from runledger.tables.receivers import ReceiversTable
from runledger.tables.subscriptions import SubscriptionsTable

# How long messages are signed with both secrets after a rotation.
ROTATION_SECONDS = times.SECONDS_PER_DAY
# A new subscription counts as this many messages. A deleted secret is kept for a week, and counts towards the account's
# limit of 500,000 secrets. Without this, an operator could reach that limit by creating and deleting subscriptions.
MESSAGES_OF_A_CREATION = 50
TEST_TEXT = "This is a test of the subscription {name}. If you can read this, the channel works."


class Contended(Exception):
    """Another caller changed the subscription at the same time."""


class TooManyMessages(Exception):
    """The installation has reached its limit for this hour."""


class NotPossible(Exception):
    """The request can't be fulfilled now. The exception's message is the reason, and is shown to the caller."""


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
        self, installation_id: int, values: Mapping[str, Any], author: Author
    ) -> tuple[Subscription, str | None]:
        """The subscription, and its secret if it was generated here. Raises Malformed if it isn't valid."""
        if len(self.subscriptions.all(installation_id)) >= MOST_SUBSCRIPTIONS:
            raise NotPossible(f"This installation has {MOST_SUBSCRIPTIONS} subscriptions already: remove one first")
        kind, settings = subscription_changes.kind_of(values.get("kind")), self._channels_for(author)
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
        found = subscription_changes.with_changes(new, given, settings)
        secret = configs.check_secret(kind, found.config, values.get("secret"), settings)
        self._count(installation_id, MESSAGES_OF_A_CREATION, author)
        if secret is not None:
            # Before the subscription, so that no subscription is without its secret.
            found = replace(found, secret_name=self.secrets.name(installation_id, found.subscription_id))
            self.secrets.create(str(found.secret_name), secret)
        try:
            self.subscriptions.create(found.to_item())
        except Exception:
            # Each secret costs money, and nothing else would delete this one. If only the response was lost, the
            # subscription exists: its messages fail, and an operator has to delete it.
            if found.secret_name:
                self.secrets.delete(found.secret_name)
            raise
        return found, None if "secret" in values else secret

    def change(self, subscription: Subscription, values: Mapping[str, Any], author: Author) -> Subscription:
        found = subscription_changes.with_changes(subscription, values, self._channels_for(author))
        if _needs_another_secret(subscription, found):
            raise Malformed("config", "must keep the server of its url: create another subscription instead")
        return self._replace(subscription, found, author)

    def rotate(self, subscription: Subscription, secret: str | None, author: Author) -> tuple[Subscription, str | None]:
        """The subscription, and its secret if it was generated here.

        Changes the subscription first: from then on, messages are signed with the previous secret too, if there is one.
        """
        if subscription.secret_name is None:
            raise NotPossible("This subscription has no secret")
        checked = configs.check_secret(subscription.kind, subscription.config, secret, self._channels_for(author))
        if checked is None:
            raise Malformed("secret", "is missing")
        until = times.later(author.at, seconds=ROTATION_SECONDS)
        changed = self._replace(subscription, replace(subscription, previous_secret_until=until), author)
        self.secrets.replace(subscription.secret_name, checked)
        return changed, checked if secret is None else None

    def delete(self, subscription: Subscription) -> None:
        """Deletes the secret last, because messages that are being sent still need it."""
        self.subscriptions.delete(subscription.installation_id, subscription.subscription_id)
        self.receivers.forget(subscription.installation_id, subscription.subscription_id)
        if subscription.secret_name:
            self.secrets.delete(subscription.secret_name)

    def test(self, subscription: Subscription, author: Author) -> NewMessage:
        if not subscription.enabled:
            raise NotPossible("This subscription is disabled: enable it, then test it")
        self._count(subscription.installation_id, 1, author)
        data = {"title": "Test from Runledger", "text": TEST_TEXT.format(name=subscription.name)}
        return self._post(RunledgerType.TEST, data, subscription, author, identity=author.correlation_id)

    def post(
        self, installation_id: int, data: Mapping[str, Any], author: Author, *, to: str | None, client_id: str | None
    ) -> list[NewMessage]:
        """Sends a user message to one subscription or to all. Messages with the same `client_id` are sent once."""
        checked = payloads.check_text(data)
        found = [each for each in self.all(installation_id) if to in (None, each.subscription_id) and _takes_text(each)]
        if not found:
            raise NotPossible("No enabled subscription can receive this message")
        self._count(installation_id, len(found), author)
        identity = f"{author.id}\0{client_id}" if client_id else author.correlation_id
        return [self._post(RunledgerType.MESSAGE, checked, each, author, identity=identity) for each in found]

    def send_again(self, message: Mapping[str, Any], author: Author) -> NewMessage:
        installation_id = message["installation_id"]
        if message["status"] != MessageStatus.FAILED:
            raise NotPossible(f"The message is {message['status']}: only failed messages can be sent again")
        subscription = self.get(installation_id, message["subscription_id"])
        if subscription is None or not subscription.enabled:
            raise NotPossible("The subscription of this message was deleted or is disabled")
        payload = self.outbox.messages.payload(installation_id, message["message_id"])
        if payload is None:
            raise NotPossible("The payload of this message has expired")
        self._count(installation_id, 1, author)
        again = messages.sent_again(message, payload, author)
        self.outbox.post(again)
        self.outbox.messages.mark_resent(installation_id, message["message_id"], resent_as=again.message_id)
        return again

    def _channels_for(self, author: Author) -> ChannelSettings:
        return replace(self.channels, deployment_urls=author.deployment_urls)

    def _count(self, installation_id: int, number: int, author: Author) -> None:
        if not self.counts.count(installation_id, number, at=author.at):
            most = self.counts.most_per_hour
            raise TooManyMessages(
                f"This installation has reached its limit of {most} messages per hour: try again later"
            )

    def _post(
        self, kind: RunledgerType, data: Mapping[str, Any], subscription: Subscription, author: Author, *, identity: str
    ) -> NewMessage:
        message = messages.runledger_message(kind, data, subscription, author, identity=identity)
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
    """If a channel's configuration has no URL, its secret is the URL.

    An ntfy token is sent to the receiver, and a launcher's signature never expires. The operator who changes the URL
    may not be the one who entered the secret, so neither secret is sent to a different server.
    """
    if ("url" in before.config) != ("url" in after.config):
        return True
    is_bound = before.kind in (ChannelKind.NTFY, ChannelKind.RELAUNCH) and before.secret_name is not None
    return (
        is_bound
        and "url" in before.config
        and configs.place(before.config["url"]) != configs.place(after.config["url"])
    )
