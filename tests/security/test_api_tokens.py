"""Access to the API fails closed: a mistake in a token entry or a JWT takes access away and never widens it."""

import io
import json
from collections.abc import Iterator
from typing import Any

import pytest
from runledger.model.errors import UnavailableError
from runledger_api.authentication import Tokens
from runledger_api.jwts import Jwts
from runledger_api.signing_keys import FRESH_SECONDS, PAUSE_SECONDS, SigningKeys

from tests.api.client import TOKENS, Client, stored
from tests.api.conftest import ELSEWHERE, api, pass_requests
from tests.api.issuer import AUDIENCE, Issuer, new_key
from tests.functions.conftest import World, world
from tests.support.webhooks import INSTALLATION

__all__ = ["api", "pass_requests", "world"]


class Clock:
    """Seconds, moved by a test."""

    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def tokens_from(world: World, value: object) -> Tokens:
    text = value if isinstance(value, str) else json.dumps(value)
    secret = world.secrets.create_secret(Name="some-tokens", SecretString=text)["ARN"]
    return Tokens(world.secrets, secret, clock=Clock())


# What is changed in the entry of the scoped token; None removes the key.
BAD_ENTRIES: dict[str, dict[str, Any]] = {
    "installations misspelt": {"installations": None, "instalations": [INSTALLATION]},
    "installations misspelt beside the right key": {"instalations": [INSTALLATION]},
    "an unknown key": {"comment": "for the release team"},
    "no installations": {"installations": None},
    "installations null": {"installations": "null"},
    "no installation in the list": {"installations": []},
    "one id and no list": {"installations": INSTALLATION},
    "an object": {"installations": {"42": True}},
    "words": {"installations": "all"},
    "an empty text": {"installations": ""},
    "a star in a list": {"installations": ["*"]},
    "ids as text": {"installations": ["42"]},
    "a boolean id": {"installations": [True]},
    "a fractional id": {"installations": [42.0]},
    "a negative id": {"installations": [-42]},
    "a null id": {"installations": [42, None]},
    "no name": {"name": None},
    "an empty name": {"name": " "},
    "a name that is a number": {"name": 7},
    "a name with a line break": {"name": "sven\nolga"},
    "an unknown role": {"role": "king"},
    "no role": {"role": None},
    "a list of roles": {"role": ["operator"]},
    "no hash": {"sha256": None},
    "half a hash": {"sha256": "ab" * 16},
}


@pytest.mark.parametrize("changes", BAD_ENTRIES.values(), ids=BAD_ENTRIES)
def test_an_entry_with_a_mistake_grants_nothing_and_the_others_keep_working(
    world: World, log: io.StringIO, changes: dict[str, Any]
) -> None:
    value = stored(scoped_to=[INSTALLATION])
    entry = value["tokens"][2] | changes
    value["tokens"][2] = {name: None if each == "null" else each for name, each in entry.items() if each is not None}
    tokens = tokens_from(world, value)
    assert [bool(tokens.caller(TOKENS[role])) for role in ("operator", "reader", "scoped")] == [True, True, False]
    (line,) = [json.loads(each) for each in log.getvalue().splitlines()]
    assert (line["level"], line["message"], line["entry"]) == ("ERROR", "API token ignored", 2)
    assert line["reason"]


def test_a_log_line_about_a_bad_entry_contains_neither_a_hash_nor_a_token(world: World, log: io.StringIO) -> None:
    hashes = [entry["sha256"] for entry in stored()["tokens"]]
    value = {
        "tokens": [
            {"name": "a", "role": "reader", "sha256": hashes[0], "instalations": "*"},
            {"name": "b", "role": "reader", "sha256": f"{hashes[1]}x", "installations": "*"},
            # An entry with keys and values swapped, and the token instead of its hash.
            {"name": "c", "role": hashes[2], "sha256": TOKENS["scoped"], "installations": "*"},
            {"name": "d", "role": "reader", hashes[2]: "sha256", "installations": "*"},
            hashes[0],
        ]
    }
    tokens = tokens_from(world, value)
    assert [tokens.caller(token) for token in TOKENS.values()] == [None] * 3
    assert len(log.getvalue().splitlines()) == len(value["tokens"])
    assert not [secret for secret in (*hashes, *TOKENS.values()) if secret in log.getvalue()]


@pytest.mark.parametrize("text", ["", "null", "[]", "not JSON", '{"tokens": {}}', '{"tokens": null}', "{}"])
def test_a_secret_that_is_no_list_of_tokens_grants_no_access(world: World, text: str) -> None:
    tokens = tokens_from(world, text or '""')
    assert [tokens.caller(token) for token in TOKENS.values()] == [None] * 3


def test_all_installations_need_a_star(world: World) -> None:
    tokens = tokens_from(world, stored(scoped_to=[INSTALLATION, 0]))
    all_of_them, some = tokens.caller(TOKENS["reader"]), tokens.caller(TOKENS["scoped"])
    assert all_of_them is not None
    assert some is not None
    assert (all_of_them.installations, some.installations) == (None, frozenset({INSTALLATION, 0}))


def test_entries_that_share_a_name_are_all_ignored(world: World, log: io.StringIO) -> None:
    """Orders belong to a name: with two owners, each could read the other's."""
    value = stored()
    value["tokens"][2]["name"] = value["tokens"][0]["name"]
    tokens = tokens_from(world, value)
    assert [bool(tokens.caller(TOKENS[role])) for role in ("operator", "reader", "scoped")] == [False, True, False]
    assert [json.loads(line)["entry"] for line in log.getvalue().splitlines()] == [0, 2]


def test_entries_that_share_a_hash_are_all_ignored(world: World, log: io.StringIO) -> None:
    """Which of two names and scopes the token has would depend on their order."""
    value = stored()
    value["tokens"][2]["sha256"] = value["tokens"][0]["sha256"].upper()
    tokens = tokens_from(world, value)
    assert [bool(tokens.caller(TOKENS[role])) for role in ("operator", "reader")] == [False, True]
    assert [json.loads(line)["entry"] for line in log.getvalue().splitlines()] == [0, 2]


def test_an_invalid_token_is_refused_in_plain_words(api: Client) -> None:
    response = api.with_token("wrong").get("/v1/me")
    assert (response.status, response.body["detail"]) == (401, "This token isn't valid")


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    with Issuer() as running:
        yield running


def test_a_jwt_whose_subject_is_a_tokens_name_does_not_read_its_passes(
    world: World, pass_requests: list[Any], issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JWT_ISSUER", issuer.url)
    monkeypatch.setenv("JWT_AUDIENCE", AUDIENCE)
    client = Client(handler=world.start("api").handler)
    pass_id = client.post("/admin/reconciliation/run").body["id"]
    assert pass_requests[0]["requested_by"] == "token:olga"
    for subject in ("olga", "token:olga"):
        impostor = issuer.sign(sub=subject, runledger_installations=[ELSEWHERE])
        assert client.with_token(impostor).get("/v1/me").body["id"] == f"jwt:{subject}"
        assert client.with_token(impostor).get(f"/admin/reconciliation/{pass_id}").status == 404
    assert client.get(f"/admin/reconciliation/{pass_id}").status == 200


def test_a_key_removed_from_the_issuer_stops_working_within_minutes(issuer: Issuer) -> None:
    clock = Clock()
    jwts = Jwts(issuer=issuer.url, audience=AUDIENCE, clock=clock)
    bearer = issuer.sign()
    assert jwts.caller(bearer)
    issuer.published = {"2": new_key().public_key()}
    clock.seconds = FRESH_SECONDS - 1
    assert jwts.caller(bearer)
    clock.seconds = FRESH_SECONDS + 1
    assert jwts.caller(bearer) is None
    assert FRESH_SECONDS <= 300


def test_a_cached_key_does_not_outlive_its_time_while_the_issuer_is_away(issuer: Issuer) -> None:
    clock = Clock()
    jwts = Jwts(issuer=issuer.url, audience=AUDIENCE, clock=clock)
    bearer = issuer.sign()
    assert jwts.caller(bearer)
    issuer.available = False
    for clock.seconds in (FRESH_SECONDS + 1, FRESH_SECONDS + 2, 2 * FRESH_SECONDS):
        with pytest.raises(UnavailableError):
            jwts.caller(bearer)
    assert issuer.requests["/.well-known/openid-configuration"] == 3
    issuer.available = True
    clock.seconds += PAUSE_SECONDS + 1
    assert jwts.caller(bearer)


def test_a_key_that_the_issuer_has_added_works_at_once(issuer: Issuer) -> None:
    clock = Clock()
    jwts = Jwts(issuer=issuer.url, audience=AUDIENCE, clock=clock)
    assert jwts.caller(issuer.sign())
    added = new_key()
    issuer.published["2"] = added.public_key()
    clock.seconds = PAUSE_SECONDS + 1
    assert jwts.caller(issuer.sign(added, kid="2"))


def test_invented_key_ids_do_not_send_a_request_each_to_the_issuer(issuer: Issuer) -> None:
    jwts = Jwts(issuer=issuer.url, audience=AUDIENCE, clock=Clock())
    stranger = new_key()
    assert [jwts.caller(issuer.sign(stranger, kid=f"made up {number}")) for number in range(20)] == [None] * 20
    assert issuer.requests["/keys"] == 1


@pytest.mark.parametrize(
    "discovery",
    [
        {"jwks_uri": "http://keys.example.com/keys"},
        {"jwks_uri": "file:///etc/keys.json"},
        {"jwks_uri": None},
        {"issuer": "https://elsewhere.example.com"},
        {"issuer": None},
    ],
    ids=str,
)
def test_a_discovery_document_leads_only_to_keys_of_that_issuer_over_https(
    issuer: Issuer, discovery: dict[str, Any]
) -> None:
    issuer.discovery = discovery
    with pytest.raises(UnavailableError):
        Jwts(issuer=issuer.url, audience=AUDIENCE).caller(issuer.sign())
    assert issuer.requests["/keys"] == 0


@pytest.mark.parametrize("address", ["http://id.example.com", "id.example.com", "", "http://127.0.0.1.example.com"])
def test_an_issuer_without_https_is_refused(address: str) -> None:
    with pytest.raises(ValueError, match="https"):
        SigningKeys(address, clock=Clock())
