"""Every error is a problem that describes what was wrong, where, and what to do."""

import base64
import io
import re
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError
from runledger.platform import clients
from runledger_api.errors import InvalidParameter
from runledger_api.problems import STATUSES

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
    answer = api.get(f"{HERE}/{path}", **query)
    assert answer.status == 400
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.body["type"] == "about:blank"
    assert (answer.body["title"], answer.body["status"]) == ("Bad Request", 400)
    (error,) = answer.body["errors"]
    assert error["parameter"] == parameter
    assert answer.body["detail"] == f"{parameter} {error['problem']}"


def test_an_id_that_is_none_is_named_too(api: Client) -> None:
    answer = api.get("/v1/installations/mine/counts")
    assert (answer.status, answer.body["errors"][0]["parameter"]) == (400, "installation_id")


def test_an_unknown_path_is_404(api: Client) -> None:
    answer = api.get("/v1/nothing")
    assert (answer.status, answer.headers["Content-Type"]) == (404, "application/problem+json")
    assert "/openapi.json" in answer.body["detail"]


@pytest.mark.parametrize("method", ["DELETE", "PUT", "PATCH", "POST"])
def test_a_wrong_method_is_405_with_the_allowed_methods(api: Client, method: str) -> None:
    answer = api.ask(method, "/v1/me")
    assert (answer.status, answer.headers["Allow"]) == (405, "GET")


BODIES: dict[str, tuple[dict[str, Any], int]] = {
    "half of JSON": ({"body": '{"pass": '}, 400),
    "an unknown pass": ({"body": '{"pass": "slow"}'}, 400),
    "a list": ({"body": "[]"}, 400),
    "not text": ({"body": base64.b64encode(b"\xff\xfe").decode(), "isBase64Encoded": True}, 400),
    "very deep": ({"body": "[" * 100_000}, 400),
}


@pytest.mark.parametrize(("event", "status"), BODIES.values(), ids=BODIES)
def test_a_wrong_body_is_a_problem(api: Client, event: dict[str, Any], status: int) -> None:
    answer = api.ask("POST", "/admin/reconciliation/run", **event)
    assert (answer.status, answer.headers["Content-Type"]) == (status, "application/problem+json")


def test_trouble_that_may_pass_is_503(api: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    throttled = ClientError({"Error": {"Code": "ThrottlingException", "Message": "slowly"}}, "Query")

    def query(**_: object) -> None:
        raise throttled

    monkeypatch.setattr(clients.client("dynamodb"), "query", query)
    answer = api.get("/v1/jobs/lookup", url=f"https://github.com/{REPO}/actions/runs/1")
    assert (answer.status, answer.body["title"]) == (503, "Service Unavailable")


def test_a_defect_is_500_and_no_trace_of_it_leaves_the_function(
    api: Client, monkeypatch: pytest.MonkeyPatch, log: io.StringIO
) -> None:
    def query(**_: object) -> None:
        raise KeyError("something internal")

    monkeypatch.setattr(clients.client("dynamodb"), "query", query)
    answer = api.get("/v1/installations")
    assert answer.status == 500
    assert "something internal" not in str(answer.body)
    assert "Traceback" not in str(answer.body)
    assert "something internal" in log.getvalue()


def test_every_response_has_its_request_id_and_is_not_cached(api: Client) -> None:
    for answer in (api.get("/v1/me"), api.get("/v1/nothing"), api.with_token(None).get("/v1/me")):
        assert (answer.headers["X-Request-Id"], answer.headers["X-Read-Units"]) == ("a-request", "0")
        assert answer.headers["Cache-Control"] == "no-store"


def test_every_detail_is_a_capitalised_sentence() -> None:
    """InvalidParameter is the exception: its detail starts with the parameter's name."""
    raised = "|".join(error.__name__ for error in STATUSES if error is not InvalidParameter)
    begins = re.compile(rf"raise (?:{raised})\(f?\"(\S)|HTTPStatus\.\w+, \"(\S)")
    sources = [file.read_text() for file in API.rglob("*.py")]
    first = [found[1] or found[2] for source in sources for found in begins.finditer(source)]
    assert len(first) > 15
    assert [letter for letter in first if letter.islower()] == []
