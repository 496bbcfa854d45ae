"""JWTs of an identity provider, accepted beside tokens on every path.

API Gateway's own authoriser rejects everything that isn't a JWT, so tokens could not be used on the paths it guards.
"""

import time
from collections.abc import Callable
from typing import Any

from runledger import telemetry
from runledger.errors import UnavailableError

from runledger_api.access import Caller, jwt_caller
from runledger_api.signing_keys import IssuerUnavailable, SigningKeys
from runledger_api.token_entries import read_installations

# Asymmetric ones only: with HS256, whoever can read the public key could sign.
ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "ES256", "ES384"]
ROLE, INSTALLATIONS = "runledger_role", "runledger_installations"
REQUIRED = ["iss", "aud", "sub", "exp", "iat"]
# The issuer's clock and ours may differ by this much.
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
        import jwt  # noqa: PLC0415 - it loads cryptography, and most callers send a token

        try:
            return self._verified(jwt, bearer)
        except IssuerUnavailable as error:
            raise UnavailableError(f"the issuer of JWTs, {self._issuer}: {error}") from error
        except (jwt.PyJWTError, LookupError, TypeError, ValueError) as error:
            telemetry.logger.warning("JWT refused", extra={"reason": str(error)})
            return None

    def _verified(self, jwt: Any, bearer: str) -> Caller:
        header = jwt.get_unverified_header(bearer)
        # Before the key is looked up, which may send a request to the issuer.
        if header.get("alg") not in ALGORITHMS or not isinstance(header.get("kid"), str):
            raise ValueError("the header needs a kid and an asymmetric alg")
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
        # No claim grants nothing: a provider that forgets it must not open every installation.
        installations = read_installations(claims.get(INSTALLATIONS), digits_allowed=True)
        return jwt_caller(claims["sub"], claims[ROLE], installations)
