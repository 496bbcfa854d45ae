"""Webhook secrets: which of them signed a delivery, and for which installations and repositories each is valid.

Secrets Manager holds one JSON object. Each of its values is a secret that is valid for everything, or an object that
limits it: `{"secret": "...", "installations": [7], "repositories": ["acme/*"], "app": true}`. All limits of an entry
must hold. A malformed entry is never active.
"""

import hmac
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import field
from typing import TYPE_CHECKING, Any

from runledger.model.dataclass import dataclass
from runledger.model.errors import BadSignature, UnavailableError
from runledger.model.payload import OWNER, REPOSITORY_NAME, is_repository_name
from runledger.model.reports import NO_INSTALLATION
from runledger.platform.availability import translate_errors

if TYPE_CHECKING:
    from mypy_boto3_secretsmanager import SecretsManagerClient

FRESH_SECONDS = 300.0
# Before a delivery is rejected, secrets older than this are read again: they may have changed. The minimum age keeps a
# flood of bad deliveries from causing a flood of calls to AWS.
REREAD_SECONDS = 10.0

KEYS = {"secret", "installations", "repositories", "app"}
LIMITS = "installations, repositories or app"
REPOSITORIES = re.compile(rf"{OWNER}/\*|{REPOSITORY_NAME}")


@dataclass(frozen=True, slots=True)
class Origin:
    """The claimed installation and repository of an input; events about an installation have no repository."""

    installation_id: int
    repo_full_name: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretEntry:
    """One secret and its limits; None means unlimited."""

    secret: bytes = field(repr=False)
    installations: frozenset[int] | None = None
    repositories: frozenset[str] | None = None
    app: bool = False

    def covers(self, origin: Origin, *, app_only: bool) -> bool:
        """With `app_only`, an input with an installation must be signed with an App's secret."""
        has_installation = origin.installation_id != NO_INSTALLATION
        if (self.app and not has_installation) or (app_only and has_installation and not self.app):
            return False
        if self.installations is not None and origin.installation_id not in self.installations:
            return False
        return self.repositories is None or _is_among(self.repositories, origin.repo_full_name)


@dataclass(frozen=True, slots=True)
class Signers:
    """The entries that may have signed a delivery: several, if they share a secret."""

    entries: tuple[SecretEntry, ...] = ()
    app_only: bool = False

    def cover(self, origins: Iterable[Origin]) -> bool:
        return all(any(entry.covers(origin, app_only=self.app_only) for entry in self.entries) for origin in origins)

    def of(self, body: bytes, signature: str) -> "Signers":
        """Compares with every secret: the duration doesn't reveal which one matched."""
        given = signature.encode("utf-8", "replace")
        matching = [entry for entry in self.entries if hmac.compare_digest(given, _sign(entry.secret, body))]
        return Signers(tuple(matching), self.app_only)


class WebhookSecrets:
    """Every valid entry is active: rotation needs no deployment.

    `ignored` is called with each other entry and the reason.
    """

    def __init__(
        self,
        client: "SecretsManagerClient",
        secret_id: str,
        *,
        clock: Callable[[], float],
        ignored: Callable[[str, str], None],
    ) -> None:
        self._client = client
        self._secret_id = secret_id
        self._clock = clock
        self._ignored = ignored
        self._active = Signers()
        self._read_at = float("-inf")

    def verify(self, body: bytes, signature: str | None, *, max_age: float = FRESH_SECONDS) -> Signers:
        if not signature:
            raise BadSignature("X-Hub-Signature-256 is missing: set a secret in the webhook's settings on GitHub")
        for age in (max_age, REREAD_SECONDS):
            if (signers := self._younger_than(age).of(body, signature)).entries:
                return signers
        raise BadSignature("X-Hub-Signature-256 matches no active webhook secret")

    def _younger_than(self, seconds: float) -> Signers:
        if self._clock() - self._read_at > seconds:
            try:
                stored = self._read()
            except UnavailableError:
                if not self._active.entries:
                    raise
            else:
                self._active = _parse(stored, self._ignored)
            self._read_at = self._clock()
        return self._active

    @translate_errors("webhook secrets")
    def _read(self) -> str:
        return self._client.get_secret_value(SecretId=self._secret_id).get("SecretString", "")


def _sign(secret: bytes, body: bytes) -> bytes:
    return b"sha256=" + hmac.digest(secret, body, "sha256").hex().encode()


def _is_among(repositories: frozenset[str], name: str | None) -> bool:
    """Names on GitHub are ASCII and case-insensitive; any other name is never in the set."""
    if name is None or not is_repository_name(name):
        return False
    name = name.lower()
    return name in repositories or f"{name.partition('/')[0]}/*" in repositories


def _parse(stored: str, ignored: Callable[[str, str], None]) -> Signers:
    """Messages contain the entry's name and key, never a value: it may be a misplaced secret."""
    try:
        document = json.loads(stored)
    except ValueError:
        document = None
    if not isinstance(document, dict):
        ignored("(all)", "the webhook secret in Secrets Manager must be a JSON object")
        return Signers()
    entries: list[SecretEntry] = []
    for name, value in document.items():
        try:
            entries.append(_entry(value))
        except ValueError as problem:
            ignored(name, str(problem))
    # Even if the App's entry is malformed: otherwise, other secrets would become valid for the App's installations.
    app_only = any(isinstance(entry, dict) and entry.get("app", False) is not False for entry in document.values())
    return Signers(tuple(entries), app_only)


def _entry(value: Any) -> SecretEntry:
    """ValueError if it is malformed."""
    if isinstance(value, str):
        return SecretEntry(secret=_secret(value))
    if not isinstance(value, dict):
        raise ValueError(f"must be a string, or an object with secret and {LIMITS}")
    if not value.keys() <= KEYS:
        raise ValueError(f"has keys other than secret, {LIMITS}")
    app = value.get("app", False)
    if not isinstance(app, bool):
        raise ValueError("app must be true or false")
    installations, repositories = _installations(value), _repositories(value)
    if installations is None and repositories is None and not app:
        raise ValueError(f"needs {LIMITS}; a secret without limits is a plain string")
    if installations is None and not app:
        # Hooks of a repository or organisation send no installation. If one were allowed, a delivery for the same
        # repository name could be recorded among the jobs of another tenant.
        installations = frozenset({NO_INSTALLATION})
    return SecretEntry(
        secret=_secret(value.get("secret")), installations=installations, repositories=repositories, app=app
    )


def _secret(value: object) -> bytes:
    if not isinstance(value, str) or not value.strip():
        raise ValueError("the secret must be a string that isn't empty")
    return value.encode("utf-8", "surrogatepass")


def _installations(entry: dict[str, Any]) -> frozenset[int] | None:
    if "installations" not in entry:
        return None
    found = entry["installations"]
    if not isinstance(found, list) or not found or not all(type(number) is int and number >= 0 for number in found):
        raise ValueError("installations must be a list of installation ids; 0 means hooks without an installation")
    return frozenset(found)


def _repositories(entry: dict[str, Any]) -> frozenset[str] | None:
    if "repositories" not in entry:
        return None
    found = entry["repositories"]
    if not isinstance(found, list) or not found or not all(map(_is_pattern, found)):
        raise ValueError("repositories must be a list of owner/name or owner/*")
    return frozenset(name.lower() for name in found)


def _is_pattern(value: object) -> bool:
    return isinstance(value, str) and REPOSITORIES.fullmatch(value) is not None
