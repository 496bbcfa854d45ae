"""The layout of webhooks in S3."""

import time
from dataclasses import replace

import pytest
from runledger.migration.key_pattern import DEFAULT, BadPattern, KeyPattern

from tests.support.webhooks import INSTALLATION, JOB, QUEUED, REPO, RUN, receipt

EVERYTHING = "w/{installation_id}/{repo}/{run_id}-{run_attempt}/{job_id}/{delivery_id}"


def test_a_key_is_built_from_the_webhook() -> None:
    assert KeyPattern.parse_for_writing(DEFAULT).key(receipt(QUEUED)) == f"webhooks/{INSTALLATION}/{JOB}/queued.json"
    everything = KeyPattern.parse_for_writing(EVERYTHING)
    folder = f"w/{INSTALLATION}/{REPO}/{RUN}-1/{JOB}"
    assert everything.key(receipt(QUEUED, guid="a/b ü")) == f"{folder}/a%2Fb%20%C3%BC"
    assert everything.key(receipt(QUEUED, guid="..")) == f"{folder}/%2E%2E"


def test_a_key_that_was_built_is_matched() -> None:
    for text in (DEFAULT, EVERYTHING, "w/{installation_id}/{job_id}.{status}"):
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
        "webhooks/1/٣/queued.json",
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


@pytest.mark.parametrize("text", ["", "/x/{job_id}", "{job}", "{job_id", "{job_id}{job_id}", "a\nb", "x" * 301])
def test_an_invalid_pattern_is_refused(text: str) -> None:
    with pytest.raises(BadPattern):
        KeyPattern.parse(text)


@pytest.mark.parametrize(
    "text", ["{repo}*{job_id}", "{installation_id}{job_id}", "**", "*{job_id}", "*a*", "{repo}-{delivery_id}/{job_id}"]
)
def test_a_pattern_can_be_matched_in_one_way_only(text: str) -> None:
    with pytest.raises(BadPattern, match="separated by"):
        KeyPattern.parse(text)


@pytest.mark.parametrize("letter", "a1-.")
def test_a_hostile_key_is_matched_without_backtracking(letter: str) -> None:
    """A match takes microseconds of processor time, which doesn't depend on how busy the machine is."""
    pattern = KeyPattern.parse("*/{repo}/{installation_id}-{run_id}-{job_id}-*/{delivery_id}-{run_attempt}")
    began = time.process_time()
    assert pattern.match("/".join([letter * 200] * 5)) is None
    assert time.process_time() - began < 1


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("w/{installation_id}/{status}", "must contain {job_id}"),
        ("w/{installation_id}/{job_id}", "and {status} or"),
        ("w/{installation_id}/{job_id}/{status}/*", "can't contain *"),
        ("w/{installation_id}/{job_id}1{run_id}/{status}", "separated by punctuation"),
    ],
)
def test_a_pattern_for_writing_distinguishes_all_webhooks(text: str, problem: str) -> None:
    assert KeyPattern.parse(text)
    with pytest.raises(BadPattern, match=problem.replace("*", r"\*")):
        KeyPattern.parse_for_writing(text)


@pytest.mark.parametrize(
    "text",
    [
        "w/{job_id}/{status}",
        "w/{repo}/{job_id}/{status}",
        "w/{installation_id}-{job_id}/{status}",
        "w/{job_id}-{installation_id}/{status}",
    ],
)
def test_an_installation_has_a_folder_of_its_own_unless_the_keys_are_shared(text: str) -> None:
    """Anyone with a webhook secret chooses ids of jobs, so a key without the installation could be another's."""
    with pytest.raises(BadPattern, match="webhook_keys_shared"):
        KeyPattern.parse_for_writing(text)
    assert KeyPattern.parse_for_writing(text, shared=True).text == text


def test_two_installations_never_have_the_same_key() -> None:
    pattern = KeyPattern.parse_for_writing(DEFAULT)
    one, other = receipt(QUEUED), replace(receipt(QUEUED), installation_id=INSTALLATION * 10 + 1)
    assert pattern.key(replace(one, job_id=12345)) != pattern.key(replace(other, job_id=2345))


@pytest.mark.parametrize(
    "folder", ["", "r", "runners/", "runners/webhooks/", "w/?/", "w/${aws:userid}/", ".w/", "w/../", "w//", "../"]
)
def test_permissions_on_webhooks_cover_a_folder_without_runner_configs(folder: str) -> None:
    text = f"{folder}{{installation_id}}/{{job_id}}/{{status}}".replace("{aws:userid}", "aws")
    for parse in (KeyPattern.parse_in_folder, KeyPattern.parse_for_writing):
        with pytest.raises(BadPattern, match=r"it must begin with a folder|it can't contain"):
            parse(text)
