"""JWTs from an identity provider, accepted on every path in addition to tokens.

API Gateway's JWT authorizer can't be used: it rejects every request whose bearer token isn't a JWT.
"""

import time
from collections.abc import Callable
from typing import Any

from runledger.model.errors import UnavailableError
from runledger.platform import logs

from runledger_api.authentication import Caller, jwt_caller
from runledger_api.signing_keys import IssuerUnavailable, SigningKeys
from runledger_api.token_entries import read_installations

# Asymmetric algorithms only: with HS256, anyone with the public key could sign a JWT.
ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "ES256", "ES384"]
ROLE, INSTALLATIONS = "runledger_role", "runledger_installations"
REQUIRED = ["iss", "aud", "sub", "exp", "iat"]
# Allowed clock skew between the issuer and Lambda.
LEEWAY_SECONDS = 10
JWT_PARTS = 3


class Jwts:
    def __init__(self, *, issuer: str, audience: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._issuer = issuer
        self._audience = audience
        self._keys = SigningKeys(issuer, clock=clock)

    def caller(self, bearer: str) -> Caller | None:
        if bearer.count(".") != JWT_PARTS - 1:
            return None
        import jwt  # noqa: PLC0415 - loads cryptography; most callers send a token

        try:
            return self._verified(jwt, bearer)
        except IssuerUnavailable as error:
            raise UnavailableError(f"JWT issuer {self._issuer}: {error}") from error
        except (jwt.PyJWTError, LookupError, TypeError, ValueError) as error:
            logs.logger.warning("JWT rejected", extra={"reason": str(error)})
            return None

    def _verified(self, jwt: Any, bearer: str) -> Caller:
        header = jwt.get_unverified_header(bearer)
        # Checked before the key lookup, which may send a request to the issuer.
        if header.get("alg") not in ALGORITHMS or not isinstance(header.get("kid"), str):
            raise ValueError("the header must have a kid and an asymmetric alg")
        claims = jwt.decode(
            bearer,
            self._keys.find(header["kid"]),
            algorithms=ALGORITHMS,
            issuer=self._issuer,
            audience=self._audience,
            leeway=LEEWAY_SECONDS,
            options={"require": REQUIRED},
        )
        if not claims["sub"]:
            raise ValueError("sub is empty")
        # A missing claim grants no access, so that a misconfigured provider can't expose every installation.
        installations = read_installations(claims.get(INSTALLATIONS), digits_allowed=True)
        return jwt_caller(claims["sub"], claims[ROLE], installations)
