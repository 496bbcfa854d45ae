"""JWTs in the place of tokens, for those who have an identity provider: verified here, beside tokens, on every path.

API Gateway's own authoriser would refuse whatever is not a JWT, and so keep tokens off the paths that it guards.
"""

from typing import Any

from runledger import telemetry
from runledger.errors import UnavailableError

from runledger_api.access import Caller, caller_from

ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "ES256", "ES384"]
ROLE, INSTALLATIONS = "runledger_role", "runledger_installations"
DISCOVERY = "/.well-known/openid-configuration"
PATIENCE_SECONDS = 3.0
JWT_PARTS = 3


class Jwts:
    """Its keys are asked of the issuer at the first JWT, and kept."""

    def __init__(self, *, issuer: str, audience: str) -> None:
        self._issuer = issuer
        self._audience = audience
        self._keys: Any = None

    def caller(self, bearer: str) -> Caller | None:
        if bearer.count(".") != JWT_PARTS - 1:
            return None
        import jwt  # noqa: PLC0415 - it loads cryptography, and most callers come with a token

        try:
            key = self._signing_keys().get_signing_key_from_jwt(bearer).key
            claims = jwt.decode(bearer, key, algorithms=ALGORITHMS, issuer=self._issuer, audience=self._audience)
            return caller_from(claims["sub"], claims[ROLE], claims, key=INSTALLATIONS)
        except jwt.PyJWKClientConnectionError as error:
            raise UnavailableError(f"the issuer of JWTs: {error}") from error
        except (jwt.PyJWTError, LookupError, TypeError, ValueError) as error:
            telemetry.logger.warning("JWT refused", extra={"reason": str(error)})
            return None

    def _signing_keys(self) -> Any:
        if self._keys is None:
            import jwt  # noqa: PLC0415

            self._keys = jwt.PyJWKClient(_keys_address(self._issuer), cache_keys=True, timeout=PATIENCE_SECONDS)
        return self._keys


def _keys_address(issuer: str) -> str:
    import urllib3  # noqa: PLC0415 - botocore has loaded it

    try:
        answer = urllib3.PoolManager(timeout=PATIENCE_SECONDS, retries=False).request(
            "GET", issuer.rstrip("/") + DISCOVERY
        )
        return str(answer.json()["jwks_uri"])
    except (urllib3.exceptions.HTTPError, ValueError, LookupError) as error:
        raise UnavailableError(f"the issuer of JWTs, {issuer}: {error}") from error
