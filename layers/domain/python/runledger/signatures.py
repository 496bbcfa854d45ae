"""Who knows a webhook secret: GitHub's HMAC over the raw bytes, against every active secret."""

import hmac
import json
from collections.abc import Callable
from typing import TYPE_CHECKING

from runledger.errors import BadSignature, UnavailableError
from runledger.tables.attributes import reaching

if TYPE_CHECKING:
    from mypy_boto3_secretsmanager import SecretsManagerClient

FRESH_SECONDS = 300.0
# A signature that fits no secret we hold may be made with a new one; a flood of bad ones must not become calls to AWS.
SOONEST_SECOND_LOOK_SECONDS = 10.0


class WebhookSecrets:
    """A JSON object in Secrets Manager, name to secret, every value active: so that rotation needs no deploy."""

    def __init__(self, client: "SecretsManagerClient", secret_id: str, *, clock: Callable[[], float]) -> None:
        self._client = client
        self._secret_id = secret_id
        self._clock = clock
        self._secrets: tuple[bytes, ...] = ()
        self._read_at = float("-inf")

    def verify(self, body: bytes, signature: str | None) -> None:
        if not signature:
            raise BadSignature("X-Hub-Signature-256 is missing: set a secret in the webhook's settings on GitHub")
        if self._fits(body, signature, self._secrets_younger_than(FRESH_SECONDS)):
            return
        if not self._fits(body, signature, self._secrets_younger_than(SOONEST_SECOND_LOOK_SECONDS)):
            raise BadSignature("X-Hub-Signature-256 fits no active webhook secret")

    def _fits(self, body: bytes, signature: str, secrets: tuple[bytes, ...]) -> bool:
        given = signature.encode("utf-8", "replace")
        return any(hmac.compare_digest(given, _sign(secret, body)) for secret in secrets)

    def _secrets_younger_than(self, seconds: float) -> tuple[bytes, ...]:
        if self._clock() - self._read_at > seconds:
            try:
                self._secrets = self._read()
            except UnavailableError:
                if not self._secrets:
                    raise
            self._read_at = self._clock()
        return self._secrets

    @reaching("webhook secrets")
    def _read(self) -> tuple[bytes, ...]:
        stored = json.loads(self._client.get_secret_value(SecretId=self._secret_id)["SecretString"])
        return tuple(secret.encode() for secret in stored.values() if secret)


def _sign(secret: bytes, body: bytes) -> bytes:
    return b"sha256=" + hmac.digest(secret, body, "sha256").hex().encode()
