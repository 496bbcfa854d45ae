"""Every error is a problem that describes what was wrong, where, and what to do."""

import base64
import io
import re
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from botocore.exceptions import ClientError
from runledger.platform import clients
from runledger_api.errors import InvalidParameter
from runledger_api.problems import STATUSES
from runledger_api.validation import FORMATS

from tests.api.client import Client
from tests.api.conftest import Live
from tests.support.webhooks import INSTALLATION, JOB, REPO

HERE = f"/v1/installations/{INSTALLATION}"
API = Path(__file__).parent.parent.parent / "layers" / "api"
WRONG: dict[str, tuple[str, dict[str, object], str]] = {
    "a limit over the maximum": ("jobs", {"repo": REPO, "limit": 201}, "limit"),
    "no limit at all": ("jobs", {"repo": REPO, "limit": 0}, "limit"),
    "a limit in words": ("jobs", {"repo": REPO, "limit": "many"}, "limit"),
    "an unknown status": ("jobs", {"status": "paused"}, "status"),
    "an unknown order": ("jobs", {"repo": REPO, "order": "random"}, "order"),
    "no filter": ("jobs", {}, "status, repo, run_id"),
    "an unknown conclusion": ("jobs", {"repo": REPO, "conclusion": "great"}, "conclusion"),
    "completion of queued jobs": ("jobs", {"status": "queued", "range_of": "completed"}, "range_of"),
    "an attempt of no run": ("jobs", {"repo": REPO, "run_attempt": 1}, "run_attempt"),
    "no repository": ("jobs", {"repo": "nonsense"}, "repo"),
    "no instant": ("jobs", {"repo": REPO, "since": "2025-99-99"}, "since"),
    "an age of nothing": ("jobs", {"repo": REPO, "since": "yesterday"}, "since"),
    "an end before the beginning": ("jobs", {"repo": REPO, "since": "1h", "until": "2h"}, "until"),
    "a cursor of nowhere": ("jobs", {"repo": REPO, "cursor": "abc"}, "cursor"),
    "a cursor that is not text": ("jobs", {"repo": REPO, "cursor": "ä§"}, "cursor"),
    "no day": (f"jobs/{JOB}/events", {"day": "2025-02-30"}, "day"),
    "statistics of the future": ("statistics", {"since": "2030-01-01"}, "since"),
    "statistics of ten years": ("statistics", {"since": "500w"}, "since"),
}


@pytest.mark.parametrize(("path", "query", "parameter"), WRONG.values(), ids=WRONG)
def test_a_wrong_parameter_is_named(
    api: Client, live: Live, path: str, query: dict[str, object], parameter: str
) -> None:
    live(JOB, until="queued")
    response = api.get(f"{HERE}/{path}", **query)
    assert response.status == 400
    assert response.headers["Content-Type"] == "application/problem+json"
    assert response.body["type"] == "about:blank"
    assert (response.body["title"], response.body["status"]) == ("Bad Request", 400)
    (error,) = response.body["errors"]
    assert error["parameter"] == parameter
    assert response.body["detail"] == f"{parameter} {error['problem']}"


SHOULD_BE = {
    "whole numbers": ("jobs", {"repo": REPO, "limit": "many"}, "limit must be a whole number"),
    "a lower limit": ("jobs", {"repo": REPO, "limit": 0}, "limit must be at least 1"),
    "an upper limit": ("jobs", {"repo": REPO, "limit": 201}, "limit must be at most 200"),
    "a choice": ("jobs", {"repo": REPO, "order": "random"}, "order must be 'newest' or 'oldest'"),
    "an instant": (
        "jobs",
        {"repo": REPO, "since": "yesterday"},
        "since must be an ISO 8601 time, such as 2025-01-15T10:00:00Z, or an age such as 30m, 24h or 7d",
    ),
    "a repository": (
        "jobs",
        {"repo": "nonsense"},
        "repo must be the owner and name of a repository, such as acme/api",
    ),
    "a day": (f"jobs/{JOB}/events", {"day": "today"}, "day must be a date, such as 2025-01-15"),
    "a length": ("jobs", {"repo": REPO, "cursor": "x" * 2001}, "cursor must have at most 2000 characters"),
}


@pytest.mark.parametrize(("path", "query", "detail"), SHOULD_BE.values(), ids=SHOULD_BE)
def test_an_error_describes_a_valid_value(api: Client, live: Live, path: str, query: Any, detail: str) -> None:
    live(JOB, until="queued")
    assert api.get(f"{HERE}/{path}", **query).body["detail"] == detail


# None is valid for every parameter, some of each are.
BAD_VALUES = ("", "abc", "-1", "1.5", "9" * 23, "ä b(", "2025-99-99", "x" * 2100, "a/b/c", "1e3", "%00", "'")
BAD_BODIES = ("{", "[]", '"x"', "1", '{"pass": "slow"}', '{"run_attempt": "x"}', '{"run_attempt": 1.5}')
# Regular expressions, Python types, and the words of a validation library.
JARGON = re.compile(r"[\\^$*+|]|\[[A-Za-z]|pattern|dictionary|parse|Input|jSON|pydantic|should|field required")


def _with(path: str, values: dict[str, str]) -> str:
    for name, value in values.items():
        path = path.replace(f"{{{name}}}", quote(value, safe=""))
    return path


@pytest.mark.usefixtures("pass_requests")
def test_no_error_of_any_parameter_or_body_contains_a_regular_expression(api: Client, live: Live) -> None:
    live(JOB)
    operations = [
        (method.upper(), path, operation.get("parameters", []))
        for path, methods in api.get("/openapi.json").body["paths"].items()
        for method, operation in methods.items()
    ]
    details: dict[str, set[str]] = {}
    for method, path, parameters in operations:
        ids = {each["name"]: "1" for each in parameters if each["in"] == "path"} | {
            "installation_id": str(INSTALLATION),
            **dict.fromkeys(("event_id", "subscription_id", "message_id"), "0" * 32),
            "sha256": "0" * 64,
        }
        for parameter, value in product(parameters, BAD_VALUES):
            name, needed = parameter["name"], {"status": "completed"} if path.endswith("/jobs") else {}
            in_path = {name: value} if parameter["in"] == "path" else {}
            query = {} if in_path else {name: value}
            response = api.request(method, _with(path, ids | in_path), query={**needed, **query})
            if response.status == 400:
                details.setdefault(f"{path} {name}", set()).add(response.body["detail"])
                assert [each["parameter"] for each in response.body["errors"]] == [name]
        for body in BAD_BODIES if method == "POST" else ():
            response = api.request(method, _with(path, ids), body=body)
            if response.status == 400:
                details.setdefault(f"{path} body", set()).add(response.body["detail"])
    assert [detail for each in details.values() for detail in each if JARGON.search(detail)] == []
    assert [detail for each in details.values() for detail in each if "openapi.json" in detail] == []
    never_rejected = {f"{path} {each['name']}" for _, path, found in operations for each in found} - set(details)
    assert never_rejected == set()


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ('{"pass": ', "body isn't valid JSON"),
        ("[]", "body must be a JSON object"),
        ('{"pass": "slow"}', "pass must be 'quick' or 'full'"),
    ],
)
def test_an_error_of_a_body_names_the_field_or_the_body(api: Client, body: str, detail: str) -> None:
    assert api.request("POST", "/admin/reconciliation/run", body=body).body["detail"] == detail


def test_every_parameter_with_a_pattern_has_its_format_in_words(api: Client) -> None:
    with_pattern = {
        each["name"]
        for methods in api.get("/openapi.json").body["paths"].values()
        for operation in methods.values()
        for each in operation.get("parameters", [])
        if "pattern" in str(each["schema"])
    }
    assert with_pattern == set(FORMATS)


def test_an_invalid_id_in_the_path_is_named(api: Client) -> None:
    response = api.get("/v1/installations/mine/counts")
    assert (response.status, response.body["errors"][0]["parameter"]) == (400, "installation_id")


def test_an_unknown_path_is_404(api: Client) -> None:
    response = api.get("/v1/nothing")
    assert (response.status, response.headers["Content-Type"]) == (404, "application/problem+json")
    assert "/openapi.json" in response.body["detail"]


@pytest.mark.parametrize("method", ["DELETE", "PUT", "PATCH", "POST"])
def test_a_wrong_method_is_405_with_the_allowed_methods(api: Client, method: str) -> None:
    response = api.request(method, "/v1/me")
    assert (response.status, response.headers["Allow"]) == (405, "GET")


BODIES: dict[str, tuple[dict[str, Any], int]] = {
    "half of JSON": ({"body": '{"pass": '}, 400),
    "an unknown pass": ({"body": '{"pass": "slow"}'}, 400),
    "a list": ({"body": "[]"}, 400),
    "not text": ({"body": base64.b64encode(b"\xff\xfe").decode(), "isBase64Encoded": True}, 400),
    "very deep": ({"body": "[" * 100_000}, 400),
}


@pytest.mark.parametrize(("event", "status"), BODIES.values(), ids=BODIES)
def test_a_wrong_body_is_a_problem(api: Client, event: dict[str, Any], status: int) -> None:
    response = api.request("POST", "/admin/reconciliation/run", **event)
    assert (response.status, response.headers["Content-Type"]) == (status, "application/problem+json")


def test_a_transient_error_is_503(api: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    throttled = ClientError({"Error": {"Code": "ThrottlingException", "Message": "slowly"}}, "Query")

    def query(**_: object) -> None:
        raise throttled

    monkeypatch.setattr(clients.client("dynamodb"), "query", query)
    response = api.get("/v1/jobs/lookup", url=f"https://github.com/{REPO}/actions/runs/1")
    assert (response.status, response.body["title"]) == (503, "Service Unavailable")


def test_a_defect_is_500_and_no_trace_of_it_leaves_the_function(
    api: Client, monkeypatch: pytest.MonkeyPatch, log: io.StringIO
) -> None:
    def query(**_: object) -> None:
        raise KeyError("something internal")

    monkeypatch.setattr(clients.client("dynamodb"), "query", query)
    response = api.get("/v1/installations")
    assert response.status == 500
    assert "something internal" not in str(response.body)
    assert "Traceback" not in str(response.body)
    assert "something internal" in log.getvalue()


def test_every_response_has_its_request_id_and_is_not_cached(api: Client) -> None:
    for response in (api.get("/v1/me"), api.get("/v1/nothing"), api.with_token(None).get("/v1/me")):
        assert (response.headers["X-Request-Id"], response.headers["X-Read-Units"]) == ("a-request", "0")
        assert response.headers["Cache-Control"] == "no-store"


def test_every_detail_is_a_capitalised_sentence() -> None:
    """InvalidParameter is the exception: its detail starts with the parameter's name."""
    raised = "|".join(error.__name__ for error in STATUSES if error is not InvalidParameter)
    begins = re.compile(rf"raise (?:{raised})\(f?\"(\S)|HTTPStatus\.\w+, \"(\S)")
    sources = [file.read_text() for file in API.rglob("*.py")]
    first = [found[1] or found[2] for source in sources for found in begins.finditer(source)]
    assert len(first) > 15
    assert [letter for letter in first if letter.islower()] == []
