"""The secrets of subscriptions in Secrets Manager: one for each subscription, under the deployment's prefix.

The API can write them, but not read them; the sender reads them. Secrets Manager keeps the previous version of a
secret, so a rotation doesn't read the old one.
"""

from collections.abc import Callable
from dataclasses import field
from typing import Any

from botocore.exceptions import ClientError

from runledger.model.dataclass import dataclass
from runledger.notifications.subscriptions import Subscription
from runledger.platform.availability import translate_errors

FRESH_SECONDS = 60
RECOVERY_DAYS = 7
CURRENT, PREVIOUS = "AWSCURRENT", "AWSPREVIOUS"
# The second code means that the secret is scheduled for deletion.
MISSING = ("ResourceNotFoundException", "InvalidRequestException")


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretStore:
    """`prefix` ends with a slash."""

    client: Any
    prefix: str

    def name(self, installation_id: int, subscription_id: str) -> str:
        return f"{self.prefix}{installation_id}/{subscription_id}"

    @translate_errors("secrets of subscriptions")
    def create(self, name: str, secret: str) -> None:
        self.client.create_secret(Name=name, SecretString=secret, Description="The secret of a Runledger subscription")

    @translate_errors("secrets of subscriptions")
    def replace(self, name: str, secret: str) -> None:
        """The old secret stays readable as the previous version."""
        self.client.put_secret_value(SecretId=name, SecretString=secret)

    @translate_errors("secrets of subscriptions")
    def delete(self, name: str) -> None:
        try:
            self.client.delete_secret(SecretId=name, RecoveryWindowInDays=RECOVERY_DAYS)
        except ClientError as error:
            if error.response["Error"]["Code"] not in MISSING:
                raise


@dataclass(slots=True, kw_only=True)
class SecretReader:
    client: Any
    clock: Callable[[], float]
    now: Callable[[], str]
    # By name, stage, and the version of the subscription.
    _read: dict[tuple[str, str, int], tuple[float, str | None]] = field(default_factory=dict)

    def secrets(self, subscription: Subscription) -> list[str]:
        """Newest first. After a rotation, the previous one is included for a while."""
        name, until = subscription.secret_name, subscription.previous_secret_until
        if name is None:
            return []
        stages = (CURRENT, PREVIOUS) if until and self.now() < until else (CURRENT,)
        # A rotation changes the subscription's version, so a secret that was cached before it is read again.
        secrets = [self._secret(name, stage, subscription.version) for stage in stages]
        return [secret for secret in secrets if secret is not None]

    def _secret(self, name: str, stage: str, version: int) -> str | None:
        key = name, stage, version
        read_at, secret = self._read.get(key, (float("-inf"), None))
        if self.clock() - read_at > FRESH_SECONDS:
            secret = self._get(name, stage)
            self._read[key] = self.clock(), secret
        return secret

    @translate_errors("secrets of subscriptions")
    def _get(self, name: str, stage: str) -> str | None:
        try:
            return str(self.client.get_secret_value(SecretId=name, VersionStage=stage)["SecretString"])
        except ClientError as error:
            if error.response["Error"]["Code"] in MISSING:
                return None
            raise
