"""The public keys with which an issuer signs its JWTs, cached for a few minutes.

found in the cache, read within 5 minutes     used
otherwise                                     all keys are read again, then the key is used or refused

So a key that the issuer withdraws works for 5 minutes at most, also while the issuer is unavailable. Whatever strangers
send, the issuer is asked at most every 10 seconds: `kid` is not signed, so anybody can make up unknown ones.
"""

import ipaddress
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

DISCOVERY = "/.well-known/openid-configuration"
FRESH_SECONDS = 300.0
PAUSE_SECONDS = 10.0
TIMEOUT_SECONDS = 3.0
OK = 200
# Asymmetric ones.
KEY_TYPES = ("RSA", "EC")


class IssuerUnavailable(Exception):
    pass


class SigningKeys:
    def __init__(self, issuer: str, *, clock: Callable[[], float]) -> None:
        """ValueError if the issuer isn't at an https address."""
        _require_https(issuer, "the issuer")
        self._issuer = issuer
        self._clock = clock
        self._keys: Mapping[str, Any] = {}
        self._read_at = float("-inf")
        self._tried_at = float("-inf")

    def find(self, kid: str) -> Any:
        """LookupError if the issuer has no such key; IssuerUnavailable if its keys can't be read now."""
        now = self._clock()
        fresh = now - self._read_at <= FRESH_SECONDS
        if fresh and kid in self._keys:
            return self._keys[kid]
        if now - self._tried_at > PAUSE_SECONDS:
            self._tried_at = now
            self._keys = self._read()
            self._read_at = now
        elif not fresh:
            raise IssuerUnavailable("its keys could not be read a moment ago")
        if kid not in self._keys:
            raise LookupError("the issuer has no key with this kid")
        return self._keys[kid]

    def _read(self) -> Mapping[str, Any]:
        import jwt  # noqa: PLC0415 - loaded with the first JWT

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
    """Redirects are not followed: one could lead away from https."""
    import urllib3  # noqa: PLC0415 - botocore has loaded it

    try:
        response = urllib3.PoolManager(timeout=TIMEOUT_SECONDS, retries=False).request("GET", address)
        document = response.json() if response.status == OK else None
    except (urllib3.exceptions.HTTPError, ValueError) as error:
        raise IssuerUnavailable(str(error)) from error
    if not isinstance(document, dict):
        raise IssuerUnavailable(f"{address} returned {response.status} and no JSON object")
    return document


def _require_https(address: str, what: str) -> None:
    parts = urlsplit(address)
    if not parts.hostname or not (parts.scheme == "https" or (parts.scheme == "http" and _is_loopback(parts.hostname))):
        raise ValueError(f"{what} must be an https address")


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
