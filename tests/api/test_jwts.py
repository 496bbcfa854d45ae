"""A JWT of the issuer that the settings name is accepted in place of a token; every other one is refused."""

from collections.abc import Iterator
from typing import Any

import jwt
import pytest
import urllib3
from runledger.model.errors import UnavailableError
from runledger_api.authentication import Caller, Role
from runledger_api.jwts import Jwts

from tests.api.issuer import AUDIENCE, Issuer, new_key


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    with Issuer() as running:
        yield running


@pytest.fixture(scope="module")
def jwts(issuer: Issuer) -> Jwts:
    return Jwts(issuer=issuer.url, audience=AUDIENCE)


def test_the_claims_of_a_jwt_define_caller_role_and_scope(issuer: Issuer, jwts: Jwts) -> None:
    everywhere = Caller(id="jwt:olga", name="olga", role=Role.OPERATOR, installations=None)
    assert jwts.caller(issuer.sign()) == everywhere
    scoped = jwts.caller(issuer.sign(runledger_role="reader", runledger_installations=[1, 2]))
    assert scoped == Caller(id="jwt:olga", name="olga", role=Role.READER, installations=frozenset({1, 2}))


def test_installation_ids_may_be_strings_because_some_providers_have_no_numbers(issuer: Issuer, jwts: Jwts) -> None:
    scoped = jwts.caller(issuer.sign(runledger_installations=["1", "22"]))
    assert scoped is not None
    assert scoped.installations == frozenset({1, 22})


def test_keys_are_read_with_the_older_urllib3_of_a_runtime(issuer: Issuer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Version 1 has no `json()` on a response, and Lambda's botocore allows it."""
    monkeypatch.delattr(urllib3.response.BaseHTTPResponse, "json")
    assert Jwts(issuer=issuer.url, audience=AUDIENCE).caller(issuer.sign()) is not None


REFUSED: dict[str, dict[str, Any]] = {
    "another issuer": {"iss": "https://elsewhere.example.com"},
    "another audience": {"aud": "another-service"},
    "no audience": {"aud": None},
    "expired": {"exp": 1_000_000_000},
    "no expiry": {"exp": None},
    "no time of issue": {"iat": None},
    "issued in the future": {"iat": 10_000_000_000},
    "no subject": {"sub": None},
    "an empty subject": {"sub": ""},
    "an unknown role": {"runledger_role": "king"},
    "no role": {"runledger_role": None},
    "no installations": {"runledger_installations": None},
    "an empty list of installations": {"runledger_installations": []},
    "one id and no list": {"runledger_installations": "12"},
    "a star in a list": {"runledger_installations": ["*"]},
    "a boolean id": {"runledger_installations": [True]},
    "a fractional id": {"runledger_installations": [1.5]},
    "a negative id": {"runledger_installations": [-1]},
    "an id in other digits": {"runledger_installations": ["٤٢"]},
}


@pytest.mark.parametrize("claims", REFUSED.values(), ids=REFUSED)
def test_a_jwt_with_a_missing_or_wrong_claim_is_rejected(issuer: Issuer, jwts: Jwts, claims: dict[str, Any]) -> None:
    assert jwts.caller(issuer.sign(**claims)) is None


def test_another_key_no_key_id_no_signature_and_no_jwt_are_refused(issuer: Issuer, jwts: Jwts) -> None:
    assert jwts.caller(issuer.sign(new_key())) is None
    assert jwts.caller(issuer.sign(kid=None)) is None
    claims = jwt.decode(issuer.sign(), options={"verify_signature": False})
    assert jwts.caller(jwt.encode(claims, "", algorithm="none", headers={"kid": "1"})) is None
    assert jwts.caller("a.b.c") is None
    assert jwts.caller("rl_a_token") is None


@pytest.mark.filterwarnings("ignore::jwt.InsecureKeyLengthWarning")
def test_a_shared_secret_is_never_a_key(issuer: Issuer, jwts: Jwts) -> None:
    claims = jwt.decode(issuer.sign(), options={"verify_signature": False})
    assert jwts.caller(jwt.encode(claims, "a public thing", algorithm="HS256", headers={"kid": "1"})) is None


def test_an_issuer_that_does_not_respond_is_unavailable_and_not_a_refusal(issuer: Issuer) -> None:
    away = Jwts(issuer="http://127.0.0.1:9", audience=AUDIENCE)
    with pytest.raises(UnavailableError):
        away.caller(issuer.sign())
