"""The engine returns the same responses as moto and Amazon's DynamoDB Local."""

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain, groupby, islice
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError
from runledger.model.suspicion import Cleared
from runledger.tables import schema
from runledger.tables.attributes import to_attributes
from runledger.tables.cleanups import CleanupLocks
from runledger.tables.event_pages import EventPages
from runledger.tables.job_pages import JobPages
from runledger.tables.pages import Span
from runledger.webhooks.readers import dispatcher

from tests.simulation.choices import seeded
from tests.simulation.engine import Engine
from tests.simulation.operations import Recorder, Request, random_requests
from tests.simulation.values import SETS, number
from tests.support import messages
from tests.support.beds import dump, mocked
from tests.support.ledgers import EVENTS, JOBS, RUNNERS, ledger_on
from tests.support.synthesis import Templates
from tests.support.webhooks import INSTALLATION, JOB, LIFE, REPO, delivery, receipt

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

ABOUT_THE_CALL = {"ResponseMetadata", "ConsumedCapacity"}
WRITES = ("put_item", "update_item", "delete_item")


@cache
def domain_requests() -> tuple[Request, ...]:
    """What the ledger, locks and pages really send, taken from flows on the engine."""
    client: Any = Recorder(Engine())
    ledger = ledger_on(client)
    for second, step in enumerate(LIFE):
        ledger.record(receipt(step, at=second))
        ledger.record(receipt(step, at=second, job_id=JOB + 1, created_at="2025-01-15T10:00:01Z"))
    reports = [
        *(messages.run(action) for action in ("requested", "in_progress", "completed")),
        *(messages.deployment(), messages.deployment_status("waiting"), messages.protection_rule()),
        *(messages.review("requested"), messages.review("approved"), messages.installation("suspend")),
    ]
    for second, (event, message) in enumerate(reports, start=60):
        for each in dispatcher.read(delivery(message, guid=f"report {second}", at=second, event=event)):
            ledger.dispatch(each)
    locks = CleanupLocks(client, RUNNERS)
    at = "2025-01-15T10:30:00.000Z"
    for runner_id in ("i-1", "i-2"):
        born = {"PK": runner_id, "SK": "v", "status": "active", "created_at": at, "suspected_at": at}
        client.put_item(TableName=RUNNERS, Item=to_attributes(born))
        locks.acquire(runner_id, suspected_at=at, owner="a", at=at)
        locks.acquire(runner_id, suspected_at=at, owner="b", at=at)
        locks.release(runner_id, owner="a", at=at, found=Cleared.BUSY if runner_id == "i-1" else None)
    pages = JobPages(client, JOBS)
    in_repo, span = pages.of_repo(INSTALLATION, REPO), Span(since="2025-01-15", until="2025-01-16")
    pages.newest(in_repo, span, at_most=1)
    pages.count(in_repo, Span(since="2025-01-15"))
    assert list(pages.completed_jobs(INSTALLATION, span, repo_full_name=REPO))
    EventPages(client, EVENTS).page(INSTALLATION, JOB, span, newest_first=False, limit=3)
    assert ledger.installations.active() == []
    return tuple(client.requests)


def shuffled_domain_requests(seed: int) -> Iterator[Request]:
    dice = seeded(seed)
    while True:
        yield dice.choice(domain_requests())


def comparable(value: Any) -> Any:
    """Sets have no order, numbers one form (DynamoDB Local keeps the text that it was given)."""
    match value:
        case {"N": str(text), **rest} if not rest:
            return {"N": number(text)}
        case dict() if len(value) == 1 and (kind := next(iter(value))) in SETS:
            return {kind: sorted(value[kind])}
        case dict():
            return {name: comparable(each) for name, each in value.items() if name not in ABOUT_THE_CALL}
        case list():
            return [comparable(each) for each in value]
    return value


def result_of(client: Any, request: Request) -> Any:
    try:
        found = comparable(getattr(client, request.operation)(**request.arguments))
    except ClientError as error:
        return error.response["Error"]["Code"], comparable(error.response.get("Item"))
    if request.operation == "batch_get_item":
        for items in found["Responses"].values():
            items.sort(key=lambda item: (item["PK"]["S"], item["SK"]["S"]))
    if request.arguments.get("IndexName") == schema.BY_COMPLETION.name:
        _order_ties(found["Items"], schema.BY_COMPLETION.sort)
    return found


def _order_ties(items: list[Any], sort: str) -> None:
    """DynamoDB promises no order among items with the same sort key in an index."""
    groups = [
        sorted(group, key=lambda item: item["PK"]["S"]) for _, group in groupby(items, key=lambda item: item[sort])
    ]
    items[:] = chain.from_iterable(groups)


def without_item(given: Any) -> Any:
    """DynamoDB Local of 2019 does not return the item on a failed condition."""
    return given[0] if isinstance(given, tuple) else given


def without_last_key(given: Any) -> Any:
    """AWS sends one with a page that ends at its limit; moto does not if nothing follows, nor DynamoDB Local if reading
    backwards."""
    return {name: each for name, each in given.items() if name != "LastEvaluatedKey"} if "Count" in given else given


def compare(client: Any, requests: Iterable[Request], *forms: Any) -> None:
    engine = Engine()
    for place, request in enumerate(requests):
        ours, theirs = result_of(engine, request), result_of(client, request)
        for form in forms:
            ours, theirs = form(ours), form(theirs)
        assert ours == theirs, f"request {place}: {request}"
    assert dump(engine) == dump(client)  # type: ignore[arg-type]


@pytest.mark.server
@pytest.mark.parametrize("seed", range(2))
def test_random_requests_have_the_responses_of_dynamodb_local(dynamodb_local: "DynamoDBClient", seed: int) -> None:
    requests = islice(random_requests(seeded(seed)), 350)
    compare(dynamodb_local, requests, without_item, without_last_key)


@pytest.mark.server
def test_the_domains_requests_have_the_responses_of_dynamodb_local(dynamodb_local: "DynamoDBClient") -> None:
    compare(dynamodb_local, domain_requests(), without_item)


@pytest.mark.server
def test_the_domains_requests_in_any_order_match_dynamodb_local(dynamodb_local: "DynamoDBClient") -> None:
    compare(dynamodb_local, islice(shuffled_domain_requests(seed=1), 300), without_item, without_last_key)


@pytest.mark.parametrize("seed", range(2))
def test_the_domains_requests_have_the_responses_of_moto(templates: Templates, seed: int) -> None:
    with mocked(templates["data"]) as client:
        compare(client, islice(shuffled_domain_requests(seed), 250), without_last_key)


KEY = {"PK": {"S": "1#1"}, "SK": {"S": "v"}}
REFUSED: dict[str, tuple[str, dict[str, Any]]] = {
    "unknown table": ("get_item", {"TableName": "unknown", "Key": KEY}),
    "half a key": ("get_item", {"Key": {"PK": {"S": "1"}}}),
    "too much of a key": ("get_item", {"Key": KEY | {"other": {"S": "1"}}}),
    "empty key": ("put_item", {"Item": KEY | {"PK": {"S": ""}}}),
    "key of another type": ("put_item", {"Item": KEY | {"SK": {"N": "1"}}}),
    "long sort key": ("put_item", {"Item": KEY | {"SK": {"S": "x" * 1025}}}),
    "index key of another type": ("put_item", {"Item": KEY | {"by_status": {"N": "1"}}}),
    "item of 400 KB": ("put_item", {"Item": KEY | {"large": {"S": "x" * 409_600}}}),
    "no number": ("put_item", {"Item": KEY | {"count": {"N": "many"}}}),
    "39 digits": ("put_item", {"Item": KEY | {"count": {"N": "1" * 39}}}),
    "empty set": ("put_item", {"Item": KEY | {"ids": {"NS": []}}}),
    "set with duplicates": ("put_item", {"Item": KEY | {"ids": {"SS": ["a", "a"]}}}),
    "unused name": (
        "put_item",
        {"Item": KEY, "ConditionExpression": "attribute_exists(PK)", "ExpressionAttributeNames": {"#a": "a"}},
    ),
    "undefined value": ("put_item", {"Item": KEY, "ConditionExpression": "PK = :absent"}),
    "reserved word": ("put_item", {"Item": KEY, "ConditionExpression": "attribute_exists(status)"}),
    "syntax": ("put_item", {"Item": KEY, "ConditionExpression": "attribute_exists(PK"}),
    "unknown function": ("put_item", {"Item": KEY, "ConditionExpression": "exists(PK)"}),
    "update of the key": ("update_item", {"Key": KEY, "UpdateExpression": "REMOVE SK"}),
    "overlapping paths": ("update_item", {"Key": KEY, "UpdateExpression": "REMOVE a, a.b"}),
    "clause twice": ("update_item", {"Key": KEY, "UpdateExpression": "REMOVE a REMOVE b"}),
    "query without an equality": (
        "query",
        {"KeyConditionExpression": "PK > :pk", "ExpressionAttributeValues": {":pk": {"S": "1"}}},
    ),
    "unknown index": (
        "query",
        {
            "IndexName": "by_name",
            "KeyConditionExpression": "PK = :pk",
            "ExpressionAttributeValues": {":pk": {"S": "1"}},
        },
    ),
    "duplicate keys": ("batch_get_item", {"RequestItems": {JOBS: {"Keys": [KEY, KEY]}}}),
    "101 keys": (
        "batch_get_item",
        {"RequestItems": {JOBS: {"Keys": [KEY | {"PK": {"S": str(number)}} for number in range(101)]}}},
    ),
}


@pytest.mark.server
def test_what_dynamodb_local_refuses_is_refused_with_its_error_code(dynamodb_local: "DynamoDBClient") -> None:
    for name, (operation, arguments) in REFUSED.items():
        table = {} if operation == "batch_get_item" else {"TableName": JOBS}
        request = Request(operation, table | arguments)
        ours, theirs = result_of(Engine(), request), result_of(dynamodb_local, request)
        assert isinstance(ours, tuple), name
        assert ours == theirs, name


def test_a_parameter_that_is_not_implemented_is_an_error() -> None:
    with pytest.raises(TypeError, match="ReturnConsumedCapacity"):
        Engine().put_item(TableName=JOBS, Item=KEY, ReturnConsumedCapacity="TOTAL")  # type: ignore[call-arg]


def test_a_page_ends_at_a_megabyte() -> None:
    engine = Engine()
    for sort in "abcdefg":
        engine.put_item(TableName=JOBS, Item=KEY | {"SK": {"S": sort}, "text": {"S": "x" * 300_000}})
    pages = engine.get_paginator("query").paginate(
        TableName=JOBS, KeyConditionExpression="PK = :pk", ExpressionAttributeValues={":pk": {"S": "1#1"}}
    )
    assert [page["Count"] for page in pages] == [4, 3]


def test_a_restored_snapshot_is_the_earlier_state_and_responses_are_copies() -> None:
    engine = Engine()
    engine.put_item(TableName=JOBS, Item=KEY | {"document": {"M": {"inside": {"S": "old"}}}})
    before = engine.snapshot()
    rename = {
        "UpdateExpression": "SET document.inside = :new",
        "ExpressionAttributeValues": {":new": {"S": "new"}},
        "ReturnValues": "ALL_NEW",
    }
    changed = engine.update_item(TableName=JOBS, Key=KEY, **rename)  # type: ignore[arg-type]
    assert changed["Attributes"]["document"] == {"M": {"inside": {"S": "new"}}}
    engine.restore(before)
    found = engine.get_item(TableName=JOBS, Key=KEY)["Item"]
    assert found["document"] == {"M": {"inside": {"S": "old"}}}
    found["document"]["M"]["inside"]["S"] = "changed by its reader"
    assert engine.get_item(TableName=JOBS, Key=KEY)["Item"]["document"] == {"M": {"inside": {"S": "old"}}}
