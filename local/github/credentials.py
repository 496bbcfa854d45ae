"""The App's key pair, its JWTs, and installation tokens."""

import base64
import json
import secrets
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from local.aws.outputs import write_private
from local.github.messages import Refusal

APP_ID = 1001
CLIENT_ID = "Iv1.5f3c9d2e8a7b6c10"
LONGEST_JWT = timedelta(minutes=10)


class Credentials:
    """Not affected by a reset, because clients keep their key and tokens."""

    def __init__(self, key_file: Path | None = None) -> None:
        self.private_key = _load_or_create(key_file)
        self._public_keys = {self.private_key: _public_key(self.private_key)}
        self._tokens: dict[str, tuple[int, datetime]] = {}

    def add_key(self) -> str:
        """A further private key: an App can have several."""
        added = _new_key()
        self._public_keys[added] = _public_key(added)
        return added

    def remove_key(self, private_key: str) -> None:
        del self._public_keys[private_key]

    def check_jwt(self, jwt: str, now: datetime) -> None:
        claims = self._verified_claims(jwt)
        expires, issued = claims.get("exp"), claims.get("iat")
        if str(claims.get("iss")) not in (str(APP_ID), CLIENT_ID):
            raise Refusal(404, "Integration not found")
        if not isinstance(expires, int) or expires <= now.timestamp():
            raise Refusal(
                401,
                "'Expiration time' claim ('exp') must be a numeric value representing the future time "
                "at which the assertion expires",
            )
        if expires > (now + LONGEST_JWT).timestamp():
            raise Refusal(401, "'Expiration time' claim ('exp') is too far in the future")
        if not isinstance(issued, int) or issued > now.timestamp():
            raise Refusal(
                401, "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued"
            )

    def issue_token(self, installation_id: int, expires: datetime) -> str:
        token = f"ghs_{secrets.token_hex(18)}"
        self._tokens[token] = (installation_id, expires)
        return token

    def installation_of(self, token: str, now: datetime) -> int:
        installation_id, expires = self._tokens.get(token, (0, now))
        if expires <= now:
            raise Refusal(401, "Bad credentials")
        return installation_id

    def _verified_claims(self, jwt: str) -> dict[str, Any]:
        try:
            header, claims, signature = jwt.split(".")
            if json.loads(_decoded(header))["alg"] != "RS256":
                raise ValueError("only RS256 is accepted")
            if not any(_signed(each, f"{header}.{claims}", signature) for each in self._public_keys.values()):
                raise ValueError("signed with no key of the App")
            document = json.loads(_decoded(claims))
        except (ValueError, KeyError, TypeError):
            raise Refusal(401, "A JSON web token could not be decoded") from None
        return document if isinstance(document, dict) else {}


def _public_key(private_key: str) -> rsa.RSAPublicKey:
    key = serialization.load_pem_private_key(private_key.encode(), None).public_key()
    assert isinstance(key, rsa.RSAPublicKey)
    return key


def _signed(key: rsa.RSAPublicKey, text: str, signature: str) -> bool:
    try:
        key.verify(_decoded(signature), text.encode(), padding.PKCS1v15(), hashes.SHA256())
    except InvalidSignature:
        return False
    return True


def _decoded(part: str) -> bytes:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


def _load_or_create(key_file: Path | None) -> str:
    """With a stored key, deployed App credentials stay valid when the simulation restarts."""
    if key_file and key_file.exists():
        return key_file.read_text()
    pem = _new_key()
    if key_file:
        write_private(key_file, pem)
    return pem


def _new_key() -> str:
    return (
        rsa.generate_private_key(public_exponent=65537, key_size=2048)
        .private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
        )
        .decode()
    )
