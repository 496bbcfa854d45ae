"""No key, JWT or token shows in a representation, a log or an error, whatever happens."""

import dataclasses
import logging
import traceback
from collections.abc import Iterator
from typing import Any

import pytest
from runledger.model.errors import NoResponseError, RateLimited
from runledger_github.app import GitHubApp
from runledger_github.errors import BadCredentials, Refused

from tests.github.conftest import Connect
from tests.github.recorded_github import RecordedGitHub


def parts(thing: Any, seen: set[int]) -> Iterator[Any]:
    """Everything of the client that can be reached from `thing`; its texts are what reprs must not show."""
    if id(thing) in seen or isinstance(thing, str | bytes):
        return
    seen.add(id(thing))
    if isinstance(thing, dict):
        children = list(thing.values())
    elif dataclasses.is_dataclass(thing):
        children = [getattr(thing, field.name) for field in dataclasses.fields(thing)]
    else:
        children = list(getattr(thing, "__dict__", {}).values())
    if type(thing).__module__.startswith("runledger_github"):
        yield thing
    for child in children:
        yield from parts(child, seen)


def secrets_of(github: RecordedGitHub) -> set[str]:
    lines = github.state.credentials.private_key.splitlines()[1:-1]
    return {*lines, *github.bearers, *github.state.credentials._tokens}


def test_representations_contain_no_secret(app: GitHubApp, github: RecordedGitHub) -> None:
    github.state.put("runs", 1, repository="acme/web")
    app.installation(7).run("acme/web", 1)
    shown = {type(part).__name__: repr(part) for part in parts(app, set())}
    assert {"AppKey", "InstallationToken", "CachedBearer", "Session", "Connection", "CachedResponse"} <= shown.keys()
    assert len(github.bearers) == 2
    assert [secret for secret in secrets_of(github) for text in shown.values() if secret in text] == []


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ({"kind": "error", "status": 401}, BadCredentials),
        ({"kind": "error", "status": 422}, Refused),
        ({"kind": "error", "status": 502}, NoResponseError),
        ({"kind": "slow", "seconds": 3600}, NoResponseError),
        ({"kind": "secondary_limit", "seconds": 3600}, RateLimited),
    ],
)
def test_errors_and_logs_contain_no_secret(
    connect: Connect,
    github: RecordedGitHub,
    caplog: pytest.LogCaptureFixture,
    fault: dict[str, Any],
    error: type[Exception],
) -> None:
    caplog.set_level(logging.DEBUG)
    github.state.add_fault(**fault, path="/orgs/*", times=None)
    with pytest.raises(error) as trouble:
        list(connect(read_seconds=0.1).installation(7).org_runners("acme"))
    output = "".join(traceback.format_exception(trouble.value)) + repr(trouble.value) + caplog.text
    assert "/orgs/acme/actions/runners" in output
    assert len(github.bearers) >= 2
    assert [secret for secret in secrets_of(github) if secret in output] == []
