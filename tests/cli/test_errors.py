"""An error is one clear line on stderr and an exit code, and never contains the token."""

import io
import json
import signal
import subprocess
import sys

import pytest
from botocore.exceptions import (
    ClientError,
    ConnectionClosedError,
    EndpointConnectionError,
    HTTPClientError,
    NoRegionError,
    ReadTimeoutError,
    ResponseStreamingError,
)
from runledger_cli import aws, main
from runledger_cli.errors import Unreachable

from tests.cli.canned_api import TOKEN, CannedApi, Raw
from tests.cli.command import COMMAND, environment, runledger
from tests.cli.conftest import Cli
from tests.cli.responses import INSTALLATION, event, job, problem

JOBS = f"GET installations/{INSTALLATION}/jobs"
TAILED = f"GET installations/{INSTALLATION}/events"


def test_a_problem_names_the_parameter(api: CannedApi, cli: Cli) -> None:
    wrong = [{"parameter": "since", "problem": "'tomorrow' is no instant"}]
    api.respond(JOBS, problem(400, "Bad Request", "a parameter is wrong", errors=wrong))
    refused = cli("jobs", "--status", "queued", "--since", "tomorrow")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr == "runledger: Bad Request: a parameter is wrong; since: 'tomorrow' is no instant\n"


def test_errors_that_the_detail_contains_are_not_repeated(api: CannedApi, cli: Cli) -> None:
    wrong = [{"parameter": "limit", "problem": "must be less than or equal to 200"}]
    api.respond(JOBS, problem(400, "Bad Request", "limit must be less than or equal to 200", errors=wrong))
    refused = cli("jobs", "--status", "queued", "--limit", "999")
    assert refused.stderr == "runledger: Bad Request: limit must be less than or equal to 200\n"


def test_a_wrong_token_is_refused_and_not_repeated(api: CannedApi) -> None:
    refused = runledger("stuck", "--api-url", api.url, "--token", "rl_wrong")
    assert (refused.returncode, refused.stderr) == (1, "runledger: Unauthorized: This token isn't valid\n")


def test_a_token_with_a_line_break_is_not_shown(api: CannedApi) -> None:
    refused = runledger("stuck", "--api-url", api.url, "--token", "rl_secret\nmore")
    assert refused.returncode == 2
    assert "rl_secret" not in refused.stderr


@pytest.mark.parametrize(
    ("response", "code", "expected"),
    [
        (Raw(403, b'{"message": "Forbidden"}'), 1, "403 Forbidden: Forbidden"),
        (Raw(502, b"<html>Bad Gateway</html>"), 1, "502 Bad Gateway"),
        (Raw(404, b"<html>Not Found</html>"), 3, "isn't a Runledger API"),
        (Raw(404, b'{"message": "Not Found"}'), 1, "404 Not Found"),
        (Raw(200, b"<html>Sign in</html>"), 3, "isn't a Runledger API"),
        (Raw(200, b'["not", "an", "object"]'), 3, "isn't a Runledger API"),
    ],
)
def test_errors_of_proxies_and_gateways_are_explained(
    api: CannedApi, cli: Cli, response: Raw, code: int, expected: str
) -> None:
    api.respond(JOBS, response)
    refused = cli("jobs", "--status", "queued")
    assert (refused.returncode, refused.stderr.count("\n")) == (code, 1)
    assert expected in refused.stderr


@pytest.mark.parametrize(
    "response",
    [{}, {"items": 1}, {"items": [{}]}, {"items": [1]}, {"items": [{"job_id": []}], "next_cursor": None}],
    ids=str,
)
def test_a_response_with_an_unexpected_format_is_reported_in_one_line(
    api: CannedApi, cli: Cli, response: dict[str, object]
) -> None:
    api.respond(JOBS, Raw(200, json.dumps(response).encode()))
    failed = cli("jobs", "--status", "queued")
    assert (failed.returncode, failed.stderr.count("\n")) == (3, 1)
    assert failed.stderr.startswith("runledger: the API's response has an unexpected format (")


@pytest.mark.parametrize("error", main.MALFORMED_RESPONSE, ids=lambda error: error.__name__)
@pytest.mark.parametrize("arguments", [["token", "remove", "ana"], ["migrate", "s3://x"], ["verify", "s3://x"]])
def test_a_bug_in_a_command_without_the_api_is_not_reported_as_a_response(
    monkeypatch: pytest.MonkeyPatch, arguments: list[str], error: type[Exception]
) -> None:
    def fail(*_: object) -> None:
        raise error("a bug")

    monkeypatch.setattr(aws.Aws, "__init__", fail)
    with pytest.raises(error, match="a bug"):
        main.main(arguments)


@pytest.mark.parametrize(
    "failure",
    [
        ReadTimeoutError(endpoint_url="https://aws.example"),
        ConnectionClosedError(endpoint_url="https://aws.example"),
        EndpointConnectionError(endpoint_url="https://aws.example"),
        ResponseStreamingError(error="cut off"),
        HTTPClientError(error="cut off"),
        NoRegionError(),
        ClientError({"Error": {"Code": "ExpiredToken", "Message": "expired"}}, "PutSecretValue"),
    ],
    ids=lambda failure: type(failure).__name__,
)
def test_an_error_of_aws_is_one_line(failure: Exception) -> None:
    with pytest.raises(Unreachable, match=r"^AWS: [^\n]+$"), aws.Aws({"AWS_REGION": "eu-west-1"}).failures_reported():
        raise failure


def test_input_that_is_not_utf_8_is_reported_before_a_request(
    api: CannedApi, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    connection = ["--api-url", api.url, "--token", TOKEN, "--installation", str(INSTALLATION)]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"caf\xe9"), encoding="utf-8"))
    assert main.main(["notify", "-", *connection]) == 2
    assert main.main(["stats", "--repo", "acme/caf\udce9", *connection]) == 2
    assert capsys.readouterr().err.count("\n") == 2
    assert api.requests == []


@pytest.mark.parametrize("when", ["0001-01-01", "9999-12-31T23:59-01:00"])
def test_a_time_that_utc_cannot_express_is_left_to_the_api(api: CannedApi, cli: Cli, when: str) -> None:
    api.respond(JOBS, problem(400, "Bad Request", "since is invalid"))
    refused = cli("jobs", "--status", "queued", "--since", when)
    assert (refused.returncode, refused.stderr) == (1, "runledger: Bad Request: since is invalid\n")


@pytest.mark.parametrize("host", ["a..b", "a" * 70])
def test_an_invalid_host_name_is_an_unreachable_address(host: str) -> None:
    failed = runledger("stuck", RUNLEDGER_API_URL=f"https://{host}", RUNLEDGER_TOKEN=TOKEN)
    assert (failed.returncode, failed.stderr.count("\n")) == (3, 1)
    assert failed.stderr.startswith(f"runledger: cannot reach https://{host}: ")


def test_an_unreachable_address_has_an_error_of_its_own() -> None:
    with CannedApi() as gone:
        pass
    refused = runledger("stuck", RUNLEDGER_API_URL=gone.url, RUNLEDGER_TOKEN=TOKEN)
    assert (refused.returncode, refused.stderr) == (3, f"runledger: cannot reach {gone.url}: Connection refused\n")


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["jobs"],
        ["jobs", "--status", "asleep"],
        ["jobs", "--status", "queued", "--run-attempt", "2"],
        ["job", "not-an-id"],
        ["tail", "--interval", "-1"],
        ["tail", "--interval", "nan"],
        ["tail", "--interval", "1e300"],
        ["dance"],
    ],
    ids=" ".join,
)
def test_wrong_usage_sends_no_request(api: CannedApi, cli: Cli, arguments: list[str]) -> None:
    assert cli(*arguments).returncode == 2
    assert api.requests == []


def test_without_a_command_all_commands_are_listed_on_stderr(cli: Cli) -> None:
    shown = cli()
    assert (shown.returncode, shown.stdout) == (2, "")
    assert [name for name in ("jobs", "orphans", "token") if f"\n    {name} " not in shown.stderr] == []


def test_a_closed_pipe_ends_the_command_without_an_error_message(api: CannedApi) -> None:
    api.respond(JOBS, {"items": [job(job_id=number) for number in range(5_000)], "next_cursor": None})
    with _started(api, "jobs", "--status", "queued") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 141


def test_tail_shows_events_as_the_api_orders_them_and_continues_at_its_next_since(api: CannedApi) -> None:
    first, second, third = (event("webhook_queued", f"2025-01-15T10:00:0{number}.000Z") for number in range(3))
    api.respond(
        TAILED,
        {"items": [first, second], "next_since": "2025-01-15T10:00:01.000Z"},
        problem(503, "Service Unavailable", "throttled"),
        {"items": [third], "next_since": "2025-01-15T10:00:02.000Z"},
        {"items": [], "next_since": "2025-01-15T10:00:02.000Z"},
    )
    with _started(api, "tail", "--utc", "--interval", "0.01") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        shown = [process.stdout.readline().split("Z")[0] for _ in range(3)]
        process.send_signal(signal.SIGINT)
        assert process.stdout.read() == ""
        assert process.stderr.read() == "runledger: Service Unavailable: throttled; retrying\n"
    assert process.returncode == 130
    assert shown == [f"2025-01-15 10:00:0{number}.000" for number in range(3)]
    request = [each.query["since"] for each in api.requests if each.path.endswith("/events")]
    assert request[:2] == ["1m", "2025-01-15T10:00:01.000Z"]


def test_tail_ends_when_the_token_does(api: CannedApi, cli: Cli) -> None:
    api.respond(
        TAILED,
        {"items": [], "next_since": "2025-01-15T10:00:00.000Z"},
        problem(401, "Unauthorized", "This token isn't valid"),
    )
    assert cli("tail", "--interval", "0.01").returncode == 1


def _started(api: CannedApi, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, *arguments],
        env=environment(RUNLEDGER_API_URL=api.url, RUNLEDGER_TOKEN=TOKEN),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
