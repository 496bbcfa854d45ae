"""A cursor is valid for the same query of a caller with the same scope, and for nothing else."""

import json
from dataclasses import replace

import pytest
from runledger_api.cursors import Cursors, Position
from runledger_api.errors import InvalidParameter

from tests.api.client import TOKENS, Client
from tests.api.conftest import ELSEWHERE, Live
from tests.support.webhooks import INSTALLATION, QUEUED, REPO

JOBS = f"/v1/installations/{INSTALLATION}/jobs"
POSITION = Position(key={"PK": "1#2", "SK": "v"}, since="2025-01-15T10:00:00.000Z")
CURSORS = Cursors(lambda: b"a key")


@pytest.fixture
def cursor(api: Client, live: Live) -> str:
    for job_id in (1, 2, 3):
        live(job_id, until=QUEUED, created_at=f"2025-01-15T10:0{job_id}:00Z")
        live(job_id, until=QUEUED, installation_id=ELSEWHERE)
    return str(api.get(JOBS, repo=REPO, limit=1).body["next_cursor"])


def test_it_contains_nothing_in_plain_text_that_the_query_does_not(cursor: str) -> None:
    assert REPO not in cursor
    assert str(INSTALLATION) not in cursor


def test_the_length_of_a_page_may_change_on_the_way(api: Client, cursor: str) -> None:
    assert [job["job_id"] for job in api.get(JOBS, repo=REPO, limit=9, cursor=cursor).body["items"]] == [2, 1]


@pytest.mark.parametrize(
    "query",
    [
        {"repo": "some/other"},
        {"status": "queued"},
        {"repo": REPO, "order": "oldest"},
        {"repo": REPO, "since": "1d"},
    ],
)
def test_a_cursor_of_another_request_is_rejected(api: Client, cursor: str, query: dict[str, str]) -> None:
    response = api.get(JOBS, cursor=cursor, **query)
    assert (response.status, response.body["errors"][0]["parameter"]) == (400, "cursor")


def test_a_cursor_of_another_installation_is_rejected(api: Client, cursor: str) -> None:
    assert api.get(JOBS.replace(str(INSTALLATION), str(ELSEWHERE)), repo=REPO, cursor=cursor).status == 400


def test_a_caller_with_another_scope_is_rejected(api: Client, cursor: str) -> None:
    elsewhere = JOBS.replace(str(INSTALLATION), str(ELSEWHERE))
    theirs = api.with_token(TOKENS["scoped"]).get(elsewhere, repo=REPO, limit=1).body["next_cursor"]
    assert api.with_token(TOKENS["scoped"]).get(elsewhere, repo=REPO, limit=1, cursor=theirs).status == 200
    assert api.get(elsewhere, repo=REPO, limit=1, cursor=theirs).status == 400
    assert cursor


def test_a_reader_and_an_operator_who_see_the_same_share_it(api: Client, cursor: str) -> None:
    assert api.with_token(TOKENS["reader"]).get(JOBS, repo=REPO, cursor=cursor).status == 200


def test_a_range_that_is_an_age_stays_where_it_was(api: Client, live: Live) -> None:
    for minute in (1, 2, 3):
        live(minute, until=QUEUED, created_at=f"2025-01-15T10:0{minute}:00Z")
    first = api.get(JOBS, repo=REPO, since="2h", limit=1).body
    later = replace(api, now_ms=api.now_ms + 3_600_000)
    rest = later.get(JOBS, repo=REPO, since="2h", cursor=first["next_cursor"]).body["items"]
    assert [job["job_id"] for job in rest] == [2, 1]


def test_a_cursor_with_any_changed_letter_is_rejected() -> None:
    cursor = CURSORS.write(POSITION, bound_to=["a"])
    assert CURSORS.read(cursor, bound_to=["a"]) == POSITION
    for at, letter in enumerate(cursor):
        changed = cursor[:at] + ("A" if letter != "A" else "B") + cursor[at + 1 :]
        try:
            found = CURSORS.read(changed, bound_to=["a"])
        except InvalidParameter:
            continue
        # The last letter may have bits that mean nothing.
        assert (at, found) == (len(cursor) - 1, POSITION)


@pytest.mark.parametrize("key", [b"another key", b""])
def test_a_cursor_is_invalid_after_the_key_has_changed(key: bytes) -> None:
    cursor = Cursors(lambda: key).write(POSITION, bound_to=["a"])
    with pytest.raises(InvalidParameter):
        CURSORS.read(cursor, bound_to=["a"])


def test_a_cursor_is_not_valid_for_a_similar_binding() -> None:
    cursor = CURSORS.write(POSITION, bound_to="ab")
    for other in ("a", "abc", json.dumps("ab")):
        with pytest.raises(InvalidParameter):
            CURSORS.read(cursor, bound_to=other)
