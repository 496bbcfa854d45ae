"""Requests to the API: from its OpenAPI document, and with any header, path, body and cursor. None ends in a 5xx."""

import base64
import json
from collections.abc import Callable, Mapping
from functools import partial
from random import Random
from typing import Any
from urllib.parse import quote, unquote, urlencode

import hypothesis
import schemathesis
from runledger_api import openapi
from runledger_api.app import build_resolver
from schemathesis import GenerationMode

from tests.api.client import TOKENS, Client
from tests.fuzz.cases import Fuzz
from tests.fuzz.ledger import Bed
from tests.fuzz.values import anything, decodable, text
from tests.security.hostile_values import TOO_DEEP
from tests.support.runner_events import INSTANCE
from tests.support.webhooks import DEPLOYMENT, INSTALLATION, JOB, REPO, RUN

OPENAPI = openapi.build(build_resolver())
OPERATIONS = [
    (method, path, operation) for path, methods in OPENAPI["paths"].items() for method, operation in methods.items()
]
KNOWN = {
    "installation_id": INSTALLATION,
    "job_id": JOB,
    "run_id": RUN,
    "deployment_id": DEPLOYMENT,
    "runner_id": INSTANCE,
    "pass_id": "20250115T100000000Z-abcdef",
    "delivery_id": "1",
    "event_id": "6d9f0a3c6f0f5a4be1d2c8a7719b0c55",
    "name": "pager",
    "owner": "acme",
    "repository": "ui",
    "package": "ui",
    "version": "1.0.0",
    "sha256": "0" * 64,
    "repo": REPO,
    "limit": 1,
    "status": "completed",
    "since": "24h",
    "until": "2025-01-15T12:00:00Z",
}
EXAMPLES = 3


def request(bed: Bed, api: Client, method: str, path: str, **event: Any) -> int:
    """The status, which the OpenAPI document may list or not. A rejected request changes nothing."""
    before = bed.tables()
    response = api.request(method, path, **event)
    assert response.status < 500, (method, path, event, response)
    if response.status >= 400 and method != "HEAD":
        assert bed.tables() == before
        assert response.headers["Content-Type"] == "application/problem+json"
        assert response.body["status"] == response.status
        assert response.body["detail"]
        assert all(each.keys() == {"parameter", "problem"} for each in response.body.get("errors", ()))
    return response.status


def test_a_request_from_the_openapi_document_gets_a_documented_response(
    bed: Bed, fuzzed_api: Client, pass_requests: list[dict[str, Any]], fuzz: Fuzz
) -> None:
    """Schemathesis makes valid and invalid requests. Each round has other ones."""
    api = schemathesis.openapi.from_dict(OPENAPI)

    def respond(method: str, responses: Mapping[str, Any], case: Any) -> None:
        bed.reset()
        status = request(bed, fuzzed_api, method, unquote(case.formatted_path), **_event(case))
        assert str(status) in responses, (status, case)

    def round_of_all(random: Random) -> None:
        seed = random.getrandbits(32)
        for method, path, described in OPERATIONS:
            operation = api.find_operation_by_id(described["operationId"])
            parts = {name: value for name, value in KNOWN.items() if f"{{{name}}}" in path}
            for mode in GenerationMode:
                if mode is GenerationMode.POSITIVE or "parameters" in described:
                    known = parts if parts and random.random() < 0.7 else None
                    strategy = operation.as_strategy(mode, path_parameters=known)
                    explore(strategy, partial(respond, method.upper(), described["responses"]), seed)
        pass_requests.clear()

    fuzz.play("description", round_of_all, cases=1)
    bed.check()


def explore(strategy: Any, check: Callable[[Any], None], seed: int) -> None:
    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=EXAMPLES,
        derandomize=False,
        suppress_health_check=list(hypothesis.HealthCheck),
        phases=[hypothesis.Phase.generate, hypothesis.Phase.shrink],
    )
    @hypothesis.given(case=strategy)
    def explored(case: Any) -> None:
        check(case)

    explored()


def _event(case: Any) -> dict[str, Any]:
    query = {str(name): _query(value) for name, value in (case.query or {}).items()}
    event: dict[str, Any] = {"rawQueryString": urlencode(query), "query": query}
    if isinstance(case.body, bytes):
        event |= {"body": base64.b64encode(case.body).decode(), "isBase64Encoded": True}
    elif case.body not in (None, schemathesis.core.NOT_SET):
        event["body"] = json.dumps(case.body)
    return event


def _query(value: Any) -> str:
    """API Gateway joins the values of a repeated parameter."""
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def test_any_path_query_header_and_body_gets_a_response(
    bed: Bed, fuzzed_api: Client, pass_requests: list[dict[str, Any]], fuzz: Fuzz
) -> None:
    statuses: set[int] = set()

    def play(random: Random) -> None:
        bed.reset()
        method, path, described = random.choice(OPERATIONS)
        for name, value in KNOWN.items():
            path = path.replace(
                f"{{{name}}}", str(value) if random.random() < 0.8 else quote(decodable(random, 12), safe="")
            )
        if random.random() < 0.2:
            path = path[: random.randrange(len(path) + 1)] + decodable(random, 10)
        names = [each["name"] for each in described.get("parameters", ()) if each["in"] == "query"]
        names = random.sample(names, k=random.randint(0, len(names)))
        query = {name: KNOWN.get(name) if random.random() < 0.5 else decodable(random, 20) for name in names}
        if random.random() < 0.2:
            query[decodable(random, 8)] = decodable(random, 8)
        method = random.choice([method.upper()] * 5 + ["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "TRACE", "x"])
        event: dict[str, Any] = {"query": query}
        if random.random() < 0.4:
            event["body"] = random.choice([json.dumps(anything(random)), text(random), "{}", TOO_DEEP])
            event["isBase64Encoded"] = random.random() < 0.2
        statuses.add(request(bed, fuzzed_api, method, "/" + unquote(path).lstrip("/"), **event))
        pass_requests.clear()

    fuzz.play("requests", play, cases=400)
    bed.check()
    assert fuzz.reproduces or statuses >= {200, 400, 404}


def test_any_header_is_accepted_or_rejected_with_a_reason(bed: Bed, fuzzed_api: Client, fuzz: Fuzz) -> None:
    def play(random: Random) -> None:
        bed.reset()
        valid = f"Bearer {random.choice(list(TOKENS.values()))}"
        authorization = random.choice([valid, valid.lower(), valid + text(random, 3), text(random, 40), "Bearer", ""])
        names = ["accept", "content-type", "host", "if-none-match", "x-forwarded-for", "cookie", text(random, 8)]
        headers = {name: text(random, 30) for name in random.sample(names, k=random.randint(0, 4))}
        headers |= {"authorization": authorization} if random.random() < 0.9 else {}
        path = random.choice(
            [f"/v1/installations/{INSTALLATION}/jobs/{JOB}", "/v1/installations", "/admin/status", "/"]
        )
        status = request(bed, fuzzed_api, "GET", path, headers=headers)
        is_known = authorization.removeprefix("Bearer ").removeprefix("bearer ").strip() in TOKENS.values()
        assert is_known or path == "/" or status == 401

    fuzz.play("api-headers", play, cases=250)


def test_any_cursor_continues_the_list_or_is_rejected(bed: Bed, fuzzed_api: Client, fuzz: Fuzz) -> None:
    jobs, events = f"/v1/installations/{INSTALLATION}/jobs", f"/v1/installations/{INSTALLATION}/jobs/{JOB}/events"
    lists: list[tuple[str, dict[str, Any]]] = [
        (jobs, {"repo": REPO, "limit": 1}),
        (jobs, {"status": "completed", "limit": 1}),
        (events, {"limit": 1}),
    ]
    first = [fuzzed_api.get(path, **query).body for path, query in lists]
    second = [
        fuzzed_api.get(path, **query, cursor=found["next_cursor"]).body
        for (path, query), found in zip(lists, first, strict=True)
    ]

    def play(random: Random) -> None:
        bed.reset()
        which = random.randrange(len(lists))
        path, query = lists[which]
        cursor = first[random.randrange(len(first))]["next_cursor"]
        at = random.randrange(len(cursor) + 1)
        changes = [
            cursor,
            cursor[:at],
            cursor[at:],
            cursor[:at] + decodable(random, 3) + cursor[at + 1 :],
            decodable(random, 40),
        ]
        cursor = random.choice(changes)
        before = bed.tables()
        response = fuzzed_api.get(path, **query, cursor=cursor)
        if response.status == 200:
            assert response.body == (second[which] if cursor else first[which])
        else:
            assert (response.status, response.body["errors"][0]["parameter"]) == (400, "cursor")
        assert bed.tables() == before

    fuzz.play("cursors", play, cases=300)
