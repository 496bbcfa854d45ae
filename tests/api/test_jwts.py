"""A JWT of the issuer that the settings name stands in the place of a token; any other is none."""

import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm
from runledger.errors import UnavailableError
from runledger_api.access import Caller, Role
from runledger_api.jwts import Jwts

AUDIENCE = "runledger"


class Issuer(ThreadingHTTPServer):
    """An identity provider's two documents, and the key that they are about."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Documents)
        self.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def sign(self, key: rsa.RSAPrivateKey | None = None, **claims: Any) -> str:
        usual = {"iss": self.url, "aud": AUDIENCE, "sub": "olga", "exp": time.time() + 60, "runledger_role": "operator"}
        said = {name: value for name, value in (usual | claims).items() if value is not None}
        return jwt.encode(said, key or self.key, algorithm="RS256", headers={"kid": "1"})


class _Documents(BaseHTTPRequestHandler):
    server: Issuer

    def do_GET(self) -> None:
        keys = {"keys": [json.loads(RSAAlgorithm.to_jwk(self.server.key.public_key())) | {"kid": "1", "use": "sig"}]}
        found = {"jwks_uri": f"{self.server.url}/keys"} if self.path.startswith("/.well-known") else keys
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(found).encode())

    def log_message(self, *_: object) -> None:
        """Nothing: the tests say what they expect."""


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    with Issuer() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def jwts(issuer: Issuer) -> Jwts:
    return Jwts(issuer=issuer.url, audience=AUDIENCE)


def test_its_claims_say_who_may_do_what_where(issuer: Issuer, jwts: Jwts) -> None:
    assert jwts.caller(issuer.sign()) == Caller(name="olga", role=Role.OPERATOR)
    scoped = issuer.sign(runledger_role="reader", runledger_installations=[1, 2])
    assert jwts.caller(scoped) == Caller(name="olga", role=Role.READER, installations=frozenset({1, 2}))


REFUSED: dict[str, dict[str, Any]] = {
    "another issuer": {"iss": "https://elsewhere.example.com"},
    "another audience": {"aud": "somebody else"},
    "no audience": {"aud": None},
    "an old one": {"exp": 1_000_000_000},
    "an unknown role": {"runledger_role": "king"},
    "no role": {"runledger_role": None},
    "a scope in words": {"runledger_installations": "12"},
}


@pytest.mark.parametrize("claims", REFUSED.values(), ids=REFUSED)
def test_what_does_not_fit_is_nobody(issuer: Issuer, jwts: Jwts, claims: dict[str, Any]) -> None:
    assert jwts.caller(issuer.sign(**claims)) is None


def test_another_key_no_signature_and_no_jwt_are_nobody(issuer: Issuer, jwts: Jwts) -> None:
    other = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    assert jwts.caller(issuer.sign(other)) is None
    claims = jwt.decode(issuer.sign(), options={"verify_signature": False})
    assert jwts.caller(jwt.encode(claims, "", algorithm="none", headers={"kid": "1"})) is None
    assert jwts.caller("a.b.c") is None
    assert jwts.caller("rl_a_token") is None


def test_an_issuer_that_does_not_answer_is_trouble_and_no_refusal(issuer: Issuer) -> None:
    away = Jwts(issuer="http://127.0.0.1:9", audience=AUDIENCE)
    with pytest.raises(UnavailableError):
        away.caller(issuer.sign())
