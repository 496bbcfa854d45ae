"""Saved queries read fields that the functions write."""

import io
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from runledger.model.passes import PassKind
from runledger.model.runner import Runner
from runledger.reconciliation import metrics
from runledger.reconciliation.summary import PassReport
from runledger.reconciliation.tally import Tally

from stacks.api import ACCESS_LOG
from stacks.monitoring.saved_queries import OVER_ACCESS, OVER_FUNCTIONS, PLAIN_TEXT_ERRORS
from tests.functions.conftest import World
from tests.support import runner_events
from tests.support.runner_events import batch
from tests.support.webhooks import COMPLETED, QUEUED, http_event, payload

WORDS = {
    *("fields", "filter", "stats", "sort", "limit", "by", "as", "and", "in", "asc", "desc"),
    *("count", "count_distinct", "sum", "avg", "max", "pct", "latest", "ispresent", "coalesce", "like", "or"),
}
NAME = re.compile(r"(?<![\w@.])[A-Za-z_][\w.]*")
# What CloudWatch adds, and an alias is what the query itself names.
ALIAS = re.compile(r"\bas (\w+)")


def fields_of(query: str) -> set[str]:
    """The fields that a query names, without texts, functions and its own names for results."""
    text = re.sub(r'"[^"]*"|/[^/]*/', "", query)
    return set(NAME.findall(text)) - WORDS - set(ALIAS.findall(text))


def found(line: Any, path: str = "") -> Iterator[str]:
    """The fields of a line as Logs Insights names them."""
    match line:
        case dict():
            for name, value in line.items():
                yield from found(value, f"{path}.{name}".lstrip("."))
        case list():
            for number, value in enumerate(line):
                yield from found(value, f"{path}.{number}")
        case _:
            yield path


def test_queries_read_what_functions_log(world: World, log: io.StringIO, capsys: pytest.CaptureFixture[str]) -> None:
    priced = runner_events.launcher("runner_scheduled", price_per_hour=0.02, on_demand_price_per_hour=0.05)
    world.invoke("webhook_intake", http_event(json.dumps(payload(QUEUED)).encode(), guid="one"))
    world.invoke("scheduling_events", batch(priced, "not JSON"))
    world.invoke("webhook_intake", http_event(json.dumps(payload(COMPLETED)).encode(), guid="two"))
    world.invoke("webhook_intake", http_event(b"{}", signature="sha256=wrong"))
    metrics.failed("job 1", ValueError("it is gone"))
    at = "2025-01-15T10:00:00.000Z"
    orphan = Runner(runner_id="i-1", created_at=at, repo_full_name="acme/web", suspected_reason="no_job")
    tally = Tally(warn=metrics.failed, suspected=[orphan], terminated=[(orphan, 600)])
    metrics.finished(PassReport(id="1", kind=PassKind.QUICK, started_at=at, finished_at=at, tally=tally))
    lines = [json.loads(line) for line in (log.getvalue() + capsys.readouterr().out).splitlines() if line[:1] == "{"]
    written = {field for line in lines for field in found(line)}
    assert {name: missing for name, query in OVER_FUNCTIONS.items() if (missing := fields_of(query) - written)} == {}


def test_queries_read_what_the_api_logs() -> None:
    assert {
        name: missing for name, query in OVER_ACCESS.items() if (missing := fields_of(query) - ACCESS_LOG.keys())
    } == {}


def test_queries_name_messages_that_are_in_the_log(world: World, log: io.StringIO) -> None:
    world.invoke("webhook_intake", http_event(b"{}", signature="sha256=wrong"))
    rejected = json.loads(log.getvalue().splitlines()[-1])
    assert f'"{rejected["message"]}"' in OVER_FUNCTIONS["rejected and delayed deliveries"]


# As Lambda's documentation has them, with the ids of a request.
REQUEST = "2ba1fc9e-5d0c-4a3b-b0a5-8f0e8d1c2b3a"
CRASHES = (
    f"2026-11-17T06:00:10.042Z {REQUEST} Task timed out after 10.01 seconds",
    "[ERROR] Runtime.ImportModuleError: Unable to import module 'api': No module named 'runledger'",
    "[ERROR] KeyError: 'JOBS_TABLE' Traceback (most recent call last): File \"/opt/python/runledger/wiring/tables.py\"",
    f"RequestId: {REQUEST} Error: Runtime exited with error: signal: killed Runtime.ExitError",
    "INIT_REPORT Init Duration: 10008.23 ms\tPhase: init\tStatus: timeout",
    "INIT_REPORT Init Duration: 310.20 ms\tPhase: init\tStatus: error\tError Type: Runtime.ImportModuleError",
    f"REPORT RequestId: {REQUEST}\tDuration: 60000.00 ms\tBilled Duration: 60000 ms\tStatus: timeout",
)
NORMAL = (
    f"START RequestId: {REQUEST} Version: $LATEST",
    f"REPORT RequestId: {REQUEST}\tDuration: 12.01 ms\tBilled Duration: 13 ms\tMax Memory Used: 90 MB",
    "INIT_START Runtime Version: python:3.13.v60\tRuntime Version ARN: arn:aws:lambda:us-east-1::runtime:0a",
    '{"level":"WARNING","message":"delivery rejected","reason":"the signature is wrong"}',
)


@pytest.mark.parametrize("line", CRASHES)
def test_errors_include_crashes_and_time_outs_which_lambda_reports_in_plain_text(line: str) -> None:
    assert f"@message like /{PLAIN_TEXT_ERRORS}/" in OVER_FUNCTIONS["errors"]
    assert re.search(PLAIN_TEXT_ERRORS, line)


@pytest.mark.parametrize("line", NORMAL)
def test_errors_leave_out_the_lines_of_a_normal_invocation(line: str) -> None:
    assert not re.search(PLAIN_TEXT_ERRORS, line)
