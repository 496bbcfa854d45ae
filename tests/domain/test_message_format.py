"""Messages between functions, where one side is newer than the other."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from runledger.model.errors import Malformed, NewerMessage
from runledger.model.message_format import VERSION
from runledger.queries import github_requests
from runledger.queries.github_requests import RequestOutcome, Result
from runledger.recording import follow_up_queue
from runledger.webhooks import retry_queue
from runledger.webhooks.retry_queue import LEGACY_ENTRY_FIELD

# One message of each kind, as the first version wrote it. Never edit or remove one: queues keep messages for 14 days.
RECORDED = json.loads((Path(__file__).parent / "messages.v1.json").read_text())
READERS: Mapping[str, Callable[[Any], Any]] = {
    "webhook_retry": lambda message: retry_queue.from_message(json.dumps(message)),
    "runner_lookup": lambda message: follow_up_queue.lookup_from(json.dumps(message)),
    "run_retry": lambda message: follow_up_queue.rerun_check_from(json.dumps(message)),
    "github_requests": github_requests.from_event,
}
WRITERS: Mapping[str, Callable[[Any], Any]] = {
    "webhook_retry": lambda content: json.loads(retry_queue.to_message(content)),
    "runner_lookup": lambda content: json.loads(follow_up_queue.to_message(content)),
    "run_retry": lambda content: json.loads(follow_up_queue.to_message(content)),
    "github_requests": github_requests.to_event,
}
MESSAGES = [(function, message) for function, messages in RECORDED.items() for message in messages]
NAMES = [f"{function}-{message.get('kind') or message.get('request') or ''}" for function, message in MESSAGES]
each_message = pytest.mark.parametrize(("function", "message"), MESSAGES, ids=NAMES)


def test_every_kind_of_message_was_recorded() -> None:
    assert {each["kind"] for each in RECORDED["webhook_retry"]} == set(retry_queue.KINDS)
    assert {each["request"] for each in RECORDED["github_requests"]} == set(github_requests.KINDS)
    assert set(RECORDED) == set(READERS)


@each_message
def test_a_message_of_the_first_version_is_read_with_every_field(function: str, message: dict[str, Any]) -> None:
    written = WRITERS[function](READERS[function](message))
    assert _contains(written, message)


@each_message
def test_a_message_names_its_version(function: str, message: dict[str, Any]) -> None:
    assert WRITERS[function](READERS[function](message))["version"] == VERSION


@each_message
def test_unknown_fields_are_ignored(function: str, message: dict[str, Any]) -> None:
    assert READERS[function](_with_more_fields(message)) == READERS[function](message)


@each_message
def test_a_newer_version_is_never_misread(function: str, message: dict[str, Any]) -> None:
    with pytest.raises(NewerMessage, match=f"version {VERSION + 1}; this function reads up to version {VERSION}"):
        READERS[function](message | {"version": VERSION + 1})


@each_message
@pytest.mark.parametrize("version", ["2", None, 0, True, 1.5], ids=repr)
def test_a_version_is_a_whole_number(function: str, message: dict[str, Any], version: object) -> None:
    with pytest.raises(Malformed, match="version must be a whole number"):
        READERS[function](message | {"version": version})


def test_a_result_with_more_fields_is_read() -> None:
    response = {"outcome": "done", "message": "", "delivery_id": 7, "new": True}
    assert github_requests.from_result(response) == Result(outcome=RequestOutcome.DONE, delivery_id=7)


def test_an_outcome_of_a_newer_version_is_no_success() -> None:
    assert github_requests.from_result({"outcome": "deferred"}).outcome is RequestOutcome.UNAVAILABLE


def _with_more_fields(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _with_more_fields(each) for name, each in value.items()} | {"added_later": {"by": "a newer one"}}
    return value


def _contains(whole: Any, part: Any) -> bool:
    if isinstance(part, dict):
        return all(name in whole and _contains(whole[name], each) for name, each in part.items())
    return bool(whole == part)


def test_a_retry_message_is_read_under_both_names_of_its_entry() -> None:
    for message in RECORDED["webhook_retry"]:
        renamed = {**message, "entry": message["said"]}
        del renamed["said"]
        assert READERS["webhook_retry"](renamed) == READERS["webhook_retry"](message)


def test_a_retry_message_can_be_read_by_the_first_release() -> None:
    for message in RECORDED["webhook_retry"]:
        assert WRITERS["webhook_retry"](READERS["webhook_retry"](message)).keys() >= {"kind", "said"}


def test_a_message_without_a_correlation_id_has_no_such_field() -> None:
    (message, *_) = RECORDED["run_retry"]
    check = follow_up_queue.rerun_check_from(json.dumps(message))
    assert "correlation_id" not in json.loads(follow_up_queue.to_message(check))
    assert json.loads(follow_up_queue.to_message(check, correlation_id="a-delivery"))["correlation_id"] == "a-delivery"


@pytest.mark.parametrize("function", ["webhook_retry", "runner_lookup", "run_retry"])
@pytest.mark.parametrize("value", [[], {}, 1.5, -1, True, "", "\ud800word", "../.."], ids=repr)
def test_a_value_of_the_wrong_type_is_rejected_with_its_field_name(function: str, value: object) -> None:
    """Otherwise it is found after the history is written, and before the job is."""
    for message in RECORDED[function]:
        content = message.get(LEGACY_ENTRY_FIELD, message)
        for name in {"installation_id", "job_id", "run_id", "repo_full_name", "at"} & content.keys():
            changed = {**content, name: value}
            with pytest.raises(Malformed, match=f"^{name} "):
                READERS[function](
                    {**message, LEGACY_ENTRY_FIELD: changed} if LEGACY_ENTRY_FIELD in message else changed
                )


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"received_at": "yesterday"}, "received_at must be a time such as"),
        ({"body_digest": "no digest"}, "body_digest must be a SHA-256"),
        ({"event_type": "word"}, "event_type must be one of"),
        ({"facts": {"custom_properties": {"team": 1.5}}}, "custom_properties must be a string"),
        ({"facts": {"price_per_hour": "NaN"}}, "price_per_hour is not a number"),
        ({"facts": 7}, "facts must be an object"),
        ({"facts": {"labels": "word"}}, "labels must be a list"),
        ({"is_guess": 1}, "is_guess must be true or false"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_receipt_that_could_not_be_stored_is_rejected(changes: dict[str, Any], reason: str) -> None:
    message = next(each for each in RECORDED["webhook_retry"] if each["kind"] == "Receipt")
    with pytest.raises(Malformed, match=reason):
        READERS["webhook_retry"](message | {LEGACY_ENTRY_FIELD: message[LEGACY_ENTRY_FIELD] | changes})


@pytest.mark.parametrize("jobs", ["word", ["word"], ["7"], ["[1]"], ["[1, 2, 3, null]"], [7]], ids=repr)
def test_a_part_of_a_review_without_its_jobs_is_rejected(jobs: object) -> None:
    message = next(each for each in RECORDED["webhook_retry"] if each["kind"] == "Review")
    with pytest.raises(Malformed):
        READERS["webhook_retry"](message | {LEGACY_ENTRY_FIELD: message[LEGACY_ENTRY_FIELD] | {"jobs": jobs}})


@pytest.mark.parametrize("text", ["", "{", "[]", "7", "null", '"text"', "[" * 100_000, "9" * 10_000])
def test_a_message_that_is_no_object_is_rejected(text: str) -> None:
    for read in (retry_queue.from_message, follow_up_queue.lookup_from, follow_up_queue.rerun_check_from):
        with pytest.raises(Malformed, match=r"^message "):
            read(text)
