"""The layout of webhooks in S3."""

import pytest
from runledger.migration.key_pattern import DEFAULT, BadPattern, KeyPattern

from tests.support.webhooks import INSTALLATION, JOB, QUEUED, REPO, RUN, receipt


def test_a_key_is_built_from_the_webhook() -> None:
    assert KeyPattern.parse_for_writing(DEFAULT).key(receipt(QUEUED)) == f"webhooks/{INSTALLATION}/{JOB}/queued.json"
    everything = KeyPattern.parse_for_writing("{repo}/{run_id}-{run_attempt}/{job_id}/{delivery_id}")
    assert everything.key(receipt(QUEUED, guid="a/b ü")) == f"{REPO}/{RUN}-1/{JOB}/a%2Fb%20%C3%BC"


def test_a_key_that_was_built_is_matched() -> None:
    for text in (DEFAULT, "{repo}/{run_id}-{run_attempt}/{job_id}/{delivery_id}", "{job_id}.{status}"):
        pattern = KeyPattern.parse_for_writing(text)
        found = pattern.match(pattern.key(receipt(QUEUED, guid="a/b ü")))
        assert found
        assert found["job_id"] == str(JOB)


@pytest.mark.parametrize(
    "key",
    [
        "webhooks/1/2/queued.json.gz",
        "webhooks/1/2/scheduled.json",
        "webhooks/a/2/queued.json",
        "webhooks/1/2/3/queued.json",
        "webhooks/1/2/queuedxjson",
        "old/webhooks/1/2/queued.json",
        "webhooks/1/2/queued.json\n",
        "runners/AROA:i-1/runner-config.json",
        "",
    ],
)
def test_other_keys_are_not_webhooks(key: str) -> None:
    assert KeyPattern.parse(DEFAULT).match(key) is None


def test_for_reading_a_star_is_any_text_without_a_slash() -> None:
    pattern = KeyPattern.parse("archive/*/{job_id}+(x)*.json")
    assert pattern.match("archive/2024 ü/12+(x)-any.json") == {"job_id": "12"}
    assert pattern.match("archive/2024/01/12+(x).json") is None
    assert pattern.prefix == "archive/"


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        (DEFAULT, True),
        ("{repo}/{job_id}/{status}", True),
        ("{status}/{job_id}", False),
        ("*/{job_id}/{status}", False),
        ("{delivery_id}", False),
    ],
)
def test_a_pattern_shows_whether_webhooks_of_a_job_are_listed_together(text: str, groups: bool) -> None:
    assert KeyPattern.parse(text).groups_by_job is groups


@pytest.mark.parametrize("text", ["", "/x/{job_id}", "{job}", "{job_id", "{job_id}{job_id}", "a\nb", "x" * 301])
def test_an_invalid_pattern_is_refused(text: str) -> None:
    with pytest.raises(BadPattern):
        KeyPattern.parse(text)


@pytest.mark.parametrize("text", ["{status}", "{job_id}", "{job_id}/{status}/*"])
def test_a_pattern_for_writing_distinguishes_all_webhooks(text: str) -> None:
    assert KeyPattern.parse(text)
    with pytest.raises(BadPattern):
        KeyPattern.parse_for_writing(text)
