"""The public keys of a JWT issuer, cached for 5 minutes.

A key in the cache that is at most 5 minutes old is used. Otherwise all keys are read again, and the key is used or the
JWT is rejected. A key that the issuer withdraws therefore works for at most 5 more minutes, even while the issuer is
unavailable. The keys are read at most every 10 seconds: `kid` isn't signed, so anyone can send unknown ones.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

from runledger.model.addresses import is_encrypted_or_local

DISCOVERY = "/.well-known/openid-configuration"
FRESH_SECONDS = 300.0
PAUSE_SECONDS = 10.0
TIMEOUT_SECONDS = 3.0
OK = 200
# Asymmetric key types.
KEY_TYPES = ("RSA", "EC")


class IssuerUnavailable(Exception):
    pass


class SigningKeys:
    def __init__(self, issuer: str, *, clock: Callable[[], float]) -> None:
        """Raises ValueError if the issuer isn't an https URL."""
        _require_https(issuer, "the issuer")
        self._issuer = issuer
        self._clock = clock
        self._keys: Mapping[str, Any] = {}
        self._read_at = float("-inf")
        self._tried_at = float("-inf")

    def find(self, kid: str) -> Any:
        """Raises LookupError for an unknown key, and IssuerUnavailable if the keys can't be read."""
        now = self._clock()
        fresh = now - self._read_at <= FRESH_SECONDS
        if fresh and kid in self._keys:
            return self._keys[kid]
        if now - self._tried_at > PAUSE_SECONDS:
            self._tried_at = now
            self._keys = self._read()
            self._read_at = now
        elif not fresh:
            raise IssuerUnavailable(f"reading its keys failed less than {PAUSE_SECONDS:.0f} seconds ago")
        if kid not in self._keys:
            raise LookupError("the issuer has no key with this kid")
        return self._keys[kid]

    def _read(self) -> Mapping[str, Any]:
        import jwt  # noqa: PLC0415 - only needed for JWTs

        discovery = _get(self._issuer.rstrip("/") + DISCOVERY)
        if discovery.get("issuer") != self._issuer:
            raise IssuerUnavailable("its discovery document names another issuer")
        address = str(discovery.get("jwks_uri"))
        try:
            _require_https(address, "jwks_uri of the discovery document")
            keys = jwt.PyJWKSet.from_dict(_get(address)).keys
        except (ValueError, jwt.PyJWTError) as error:
            raise IssuerUnavailable(str(error)) from error
        usable = [key for key in keys if key.key_type in KEY_TYPES and key.public_key_use in (None, "sig")]
        return {str(key.key_id): key.key for key in usable}


def _get(address: str) -> dict[str, Any]:
    """Redirects are not followed: one could lead to an http URL."""
    import urllib3  # noqa: PLC0415 - already loaded by botocore

    try:
        response = urllib3.PoolManager(timeout=TIMEOUT_SECONDS, retries=False).request("GET", address)
        document = json.loads(response.data) if response.status == OK else None  # urllib3 1 has no `json()`
    except (urllib3.exceptions.HTTPError, ValueError) as error:
        raise IssuerUnavailable(str(error)) from error
    if not isinstance(document, dict):
        raise IssuerUnavailable(f"{address} returned {response.status} and no JSON object")
    return document


def _require_https(address: str, what: str) -> None:
    if not is_encrypted_or_local(address):
        raise ValueError(f"{what} must be an https URL")
