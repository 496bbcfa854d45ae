"""An identity provider on loopback: its discovery document, its keys, and the JWTs that it signs."""

import json
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

AUDIENCE = "runledger"


def new_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


class Issuer(ThreadingHTTPServer):
    """`published` are its public keys by kid; `discovery` overrides members of the discovery document."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Documents)
        self.key = new_key()
        self.published = {"1": self.key.public_key()}
        self.discovery: dict[str, Any] = {}
        self.requests: Counter[str] = Counter()
        self.available = True

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

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


class _Documents(BaseHTTPRequestHandler):
    server: Issuer

    def do_GET(self) -> None:
        self.server.requests[self.path] += 1
        self.send_response(200 if self.server.available else 503)
        self.end_headers()
        self.wfile.write(json.dumps(self.server.document(self.path)).encode())

    def log_message(self, *_: object) -> None:
        """Silent: the tests state what they expect."""


@contextmanager
def running() -> Iterator[Issuer]:
    with Issuer() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()
