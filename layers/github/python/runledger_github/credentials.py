"""The credentials: a signed JWT for the App, and tokens that the App requests for installations."""

import json
from collections.abc import Callable
from dataclasses import field
from datetime import datetime
from typing import Any, Self

from runledger.model.dataclass import dataclass

from runledger_github.calls import Call
from runledger_github.errors import BadCredentials
from runledger_github.session import Session

# GitHub accepts an expiry of at most ten minutes, and no JWT issued in its future. One minute allows for clock skew.
JWT_BACKDATED_SECONDS = 60
JWT_SECONDS = 540
RENEW_JWT_SECONDS = 60
RENEW_TOKEN_SECONDS = 300
EXPECTED = 'store {"app_id": 12345, "private_key": "-----BEGIN RSA PRIVATE KEY-----\\n..."} there'


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedBearer:
    bearer: str = field(repr=False)
    renew_at: float


class AppKey:
    """Caches its JWT: loading the key and signing take 40 ms, and reading the delivery log may take many calls."""

    def __init__(self, app_id: str, private_key: str, *, clock: Callable[[], float]) -> None:
        self._app_id = app_id
        self._private_key = private_key
        self._clock = clock
        self._cached: CachedBearer | None = None

    @classmethod
    def from_secret(cls, secret_json: str, *, clock: Callable[[], float]) -> Self:
        """Error messages don't contain any part of the secret."""
        if not secret_json.strip():
            raise BadCredentials(f"the GitHub App's secret is empty: {EXPECTED}")
        stored = _parse(secret_json)
        if not isinstance(stored, dict):
            raise BadCredentials(f"the GitHub App's secret is not a JSON object: {EXPECTED}")
        app_id, private_key = stored.get("app_id"), stored.get("private_key")
        if not isinstance(app_id, int | str) or not app_id:
            raise BadCredentials(f"app_id is missing from the GitHub App's secret: {EXPECTED}")
        if not isinstance(private_key, str) or not private_key.lstrip().startswith("-----BEGIN"):
            raise BadCredentials(f"private_key in the GitHub App's secret is not a PEM file's content: {EXPECTED}")
        return cls(str(app_id), private_key, clock=clock)

    def bearer(self) -> str:
        now = self._clock()
        if self._cached is None or now >= self._cached.renew_at:
            expires = int(now) + JWT_SECONDS
            claims = {"iss": self._app_id, "iat": int(now) - JWT_BACKDATED_SECONDS, "exp": expires}
            self._cached = CachedBearer(bearer=self._sign(claims), renew_at=expires - RENEW_JWT_SECONDS)
        return self._cached.bearer

    def renew(self) -> bool:
        """The same key would sign the same claims again."""
        return False

    def _sign(self, claims: dict[str, Any]) -> str:
        import jwt  # noqa: PLC0415 - it loads cryptography, and many invocations don't call GitHub

        try:
            return jwt.encode(claims, self._private_key, algorithm="RS256")
        except (ValueError, TypeError, jwt.PyJWTError):
            raise BadCredentials("private_key in the GitHub App's secret is not an RSA key") from None


class InstallationToken:
    """Renewed before it expires, and when GitHub refuses it: an owner can revoke it at any time."""

    def __init__(self, installation_id: int, *, app: Session, clock: Callable[[], float]) -> None:
        self._path = f"/app/installations/{installation_id}/access_tokens"
        self._app = app
        self._clock = clock
        self._cached: CachedBearer | None = None

    def bearer(self) -> str:
        if self._cached is None or self._clock() >= self._cached.renew_at:
            # Without retries: the call that needs the token is retried, and nested retries would multiply.
            issued = self._app.send_once(Call(method="POST", path=self._path)).document
            expires = datetime.fromisoformat(issued["expires_at"]).timestamp()
            self._cached = CachedBearer(bearer=issued["token"], renew_at=expires - RENEW_TOKEN_SECONDS)
        return self._cached.bearer

    def renew(self) -> bool:
        self._cached = None
        return True


def _parse(text: str) -> Any:
    """None instead of a decoding error, whose traceback would contain the whole secret."""
    try:
        return json.loads(text)
    except ValueError:
        return None
