"""Who may ask: bearer tokens, kept as hashes in Secrets Manager, or a JWT of an issuer that the settings name."""

import hashlib
import hmac
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

from runledger import telemetry
from runledger.tables.attributes import reaching

from runledger_api.refusals import NotAllowed, NoToken

if TYPE_CHECKING:
    from mypy_boto3_secretsmanager import SecretsManagerClient

# A revoked token works for at most this long.
FRESH_SECONDS = 60.0
BEARER = "bearer "


class Role(StrEnum):
    READER = "reader"
    OPERATOR = "operator"


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """`installations` is None for somebody who may see all of them."""

    name: str
    role: Role
    installations: frozenset[int] | None = None

    def sees(self, installation_id: int | None) -> bool:
        return self.installations is None or installation_id in self.installations

    @property
    def sees_all(self) -> bool:
        return self.installations is None

    def must_operate(self) -> None:
        if self.role is not Role.OPERATOR:
            raise NotAllowed(f"{self.name} is a reader: this needs the role operator")

    def must_see_all(self) -> None:
        """For what concerns every installation alike."""
        if self.installations is not None:
            raise NotAllowed(f"{self.name} may see some installations only, and this concerns all of them")


class Verifier(Protocol):
    def caller(self, bearer: str) -> Caller | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Doorkeeper:
    """Asks each verifier in turn."""

    verifiers: tuple[Verifier, ...]

    def admit(self, authorization: str | None) -> Caller:
        if not authorization or not authorization.lower().startswith(BEARER):
            raise NoToken("send `Authorization: Bearer <token>`")
        bearer = authorization[len(BEARER) :].strip()
        for verifier in self.verifiers:
            if caller := verifier.caller(bearer):
                return caller
        raise NoToken("this token is not known, or not any more")


class Tokens:
    """`{"tokens": [{"name", "role", "sha256", "installations"?}], "cursor_key"?}`, read again every minute."""

    def __init__(self, client: "SecretsManagerClient", secret_id: str, *, clock: Callable[[], float]) -> None:
        self._client = client
        self._secret_id = secret_id
        self._clock = clock
        self._read_at = float("-inf")
        self._known: tuple[tuple[bytes, Caller], ...] = ()
        self._cursor_key = b""

    def caller(self, bearer: str) -> Caller | None:
        self._refresh()
        given = hashlib.sha256(bearer.encode("utf-8", "replace")).hexdigest().encode()
        # Every token is compared, so that the time tells nothing of which one, and how much of it, was right.
        fitting = [caller for digest, caller in self._known if hmac.compare_digest(given, digest)]
        return fitting[0] if fitting else None

    def cursor_key(self) -> bytes:
        self._refresh()
        return self._cursor_key

    def _refresh(self) -> None:
        """Without Secrets Manager nobody gets in: a revocation must not wait for it to be well."""
        if self._clock() - self._read_at <= FRESH_SECONDS:
            return
        with reaching("API tokens"):
            text = self._client.get_secret_value(SecretId=self._secret_id)["SecretString"]
        stored = json.loads(text)
        self._known = tuple(_callers(stored.get("tokens", ())))
        # Without a key of their own, cursors end when the list of tokens changes.
        self._cursor_key = hashlib.sha256(f"cursors {stored.get('cursor_key') or text}".encode()).digest()
        self._read_at = self._clock()


def _callers(entries: Iterable[Any]) -> Iterable[tuple[bytes, Caller]]:
    """One entry that somebody has mistyped locks out nobody but its owner."""
    for number, entry in enumerate(entries):
        try:
            yield str(entry["sha256"]).lower().encode(), caller_from(entry["name"], entry["role"], entry)
        except (LookupError, TypeError, ValueError) as error:
            telemetry.logger.error("API token ignored", extra={"entry": number, "reason": str(error)})


def caller_from(name: Any, role: Any, scope: Any, *, key: str = "installations") -> Caller:
    """ValueError or TypeError if it is not what it must be."""
    listed = scope.get(key)
    if listed is not None and not isinstance(listed, list):
        raise TypeError(f"{key} must be a list of ids")
    installations = None if listed is None else frozenset(int(each) for each in listed)
    return Caller(name=str(name), role=Role(role), installations=installations)
