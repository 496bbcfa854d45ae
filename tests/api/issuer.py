"""An identity provider on loopback: its discovery document, its keys, and the JWTs that it signs."""

import json
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

from tests.support.loopback import LoopbackServer, Quiet

AUDIENCE = "runledger"


def new_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


class Issuer(LoopbackServer):
    """`published` are its public keys by kid; `discovery` overrides members of the discovery document."""

    def __init__(self) -> None:
        super().__init__(_Documents)
        self.key = new_key()
        self.published = {"1": self.key.public_key()}
        self.discovery: dict[str, Any] = {}
        self.requests: Counter[str] = Counter()
        self.available = True

    def sign(self, key: rsa.RSAPrivateKey | None = None, *, kid: str | None = "1", **claims: Any) -> str:
        """A claim that is None is left out."""
        now = time.time()
        usual = {"iss": self.url, "aud": AUDIENCE, "sub": "olga", "iat": now, "exp": now + 60}
        usual |= {"runledger_role": "operator", "runledger_installations": "*"}
        given = {name: value for name, value in (usual | claims).items() if value is not None}
        return jwt.encode(given, key or self.key, algorithm="RS256", headers={"kid": kid} if kid else {})

    def document(self, path: str) -> dict[str, Any]:
        if path.startswith("/.well-known"):
            return {"issuer": self.url, "jwks_uri": f"{self.url}/keys"} | self.discovery
        keys = [
            json.loads(RSAAlgorithm.to_jwk(key)) | {"kid": kid, "use": "sig"} for kid, key in self.published.items()
        ]
        return {"keys": keys}


class _Documents(Quiet, BaseHTTPRequestHandler):
    server: Issuer

    def do_GET(self) -> None:
        self.server.requests[self.path] += 1
        self.send_response(200 if self.server.available else 503)
        self.end_headers()
        self.wfile.write(json.dumps(self.server.document(self.path)).encode())
