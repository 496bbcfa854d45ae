"""Authentication: bearer tokens, stored as hashes in Secrets Manager, or JWTs from the configured issuer."""

import hashlib
import hmac
import json
from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

from runledger.model.dataclass import dataclass
from runledger.platform import logs
from runledger.platform.availability import translate_errors

from runledger_api.errors import Forbidden, Unauthenticated
from runledger_api.token_entries import read_entries

if TYPE_CHECKING:
    from mypy_boto3_secretsmanager import SecretsManagerClient

# A revoked token works for at most this long.
FRESH_SECONDS = 60.0
BEARER = "bearer "


class Role(StrEnum):
    """In ascending order: each role includes the permissions of those before it."""

    READER = "reader"
    PUBLISHER = "publisher"  # posts feed events, and reports builds, packages and versions
    OPERATOR = "operator"


RANKS = {role: rank for rank, role in enumerate(Role)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """`id` is unique across tokens and JWTs, and is stored with what the caller requests. `name` is for display.

    `installations` is None if the caller has access to all of them.
    """

    id: str
    name: str
    role: Role
    installations: frozenset[int] | None

    def sees(self, installation_id: int | None) -> bool:
        return self.installations is None or installation_id in self.installations

    def require(self, role: Role) -> None:
        if RANKS[self.role] < RANKS[role]:
            raise Forbidden(f"The caller {self.name} has the role {self.role}; this request requires the role {role}")

    def require_all_installations(self) -> None:
        """For requests that affect every installation."""
        if self.installations is not None:
            raise Forbidden(
                f"The caller {self.name} is limited to some installations; this request affects all of them"
            )


class Verifier(Protocol):
    def caller(self, bearer: str) -> Caller | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Authenticator:
    """Tries each verifier in turn."""

    verifiers: tuple[Verifier, ...]

    def authenticate(self, authorization: str | None) -> Caller:
        if not authorization or not authorization.lower().startswith(BEARER):
            raise Unauthenticated("This request has no token: send `Authorization: Bearer <token>`")
        bearer = authorization[len(BEARER) :].strip()
        for verifier in self.verifiers:
            if caller := verifier.caller(bearer):
                return caller
        raise Unauthenticated("This token isn't valid")


class Tokens:
    """The secret `{"tokens": [entry, …], "cursor_key": "…"}`, read again every minute; see `token_entries`."""

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
        # Every hash is compared, so that the duration doesn't depend on which one matches.
        matching = [caller for digest, caller in self._known if hmac.compare_digest(given, digest)]
        return matching[0] if matching else None

    def cursor_key(self) -> bytes:
        self._refresh()
        return self._cursor_key

    def _refresh(self) -> None:
        """While Secrets Manager is unavailable, no token is accepted: otherwise a revoked token would keep working."""
        if self._clock() - self._read_at <= FRESH_SECONDS:
            return
        with translate_errors("API tokens"):
            text = self._client.get_secret_value(SecretId=self._secret_id)["SecretString"]
        stored = _parse(text)
        self._known = tuple(
            (entry.sha256.encode(), _caller("token", entry.name, entry.role, entry.installations))
            for entry in read_entries(stored.get("tokens", []), roles=set(Role), log_error=logs.logger.error)
        )
        # Without a `cursor_key`, cursors expire when the list of tokens changes.
        self._cursor_key = hashlib.sha256(f"cursors {stored.get('cursor_key') or text}".encode()).digest()
        self._read_at = self._clock()


def jwt_caller(subject: str, role: str, installations: frozenset[int] | None) -> Caller:
    """Raises ValueError for an unknown role."""
    return _caller("jwt", subject, role, installations)


def _caller(kind: str, name: str, role: str, installations: frozenset[int] | None) -> Caller:
    # The prefix keeps a JWT's subject from matching the name of a token.
    return Caller(id=f"{kind}:{name}", name=name, role=Role(role), installations=installations)


def _parse(text: str) -> dict[str, Any]:
    try:
        stored = json.loads(text)
    except ValueError:
        stored = None
    if isinstance(stored, dict):
        return stored
    logs.logger.error("API tokens ignored", extra={"reason": "the secret isn't a JSON object"})
    return {}
