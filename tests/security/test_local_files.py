"""What a local deployment leaves on disk with a secret in it can be read by its owner only."""

import json
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from local.aws.outputs import Outputs, write_private
from local.github.credentials import Credentials
from local.processes import Server, free_port

OUTPUTS = Outputs(
    endpoint_url="http://127.0.0.1:4566",
    region="us-east-1",
    webhook_url="http://127.0.0.1:4566/webhooks/github",
    api_url="http://127.0.0.1:4566/api",
    admin_token="rl_secret",
    webhook_secret="also secret",
    event_bus="runledger",
    tables={},
    github_api_url="http://127.0.0.1:4567",
    functions={},
)
# Serves any request, and writes a file as a server would.
SERVER = """
import http.server, pathlib, sys
pathlib.Path("written").write_text("secret")
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), http.server.SimpleHTTPRequestHandler).serve_forever()
"""


@pytest.fixture(autouse=True)
def careless_umask() -> Iterator[None]:
    """Everything is readable by every user unless the code prevents it."""
    before = os.umask(0)
    yield
    os.umask(before)


def mode(file: Path) -> int:
    return stat.S_IMODE(file.stat().st_mode)


def test_outputs_are_readable_by_their_owner_only(tmp_path: Path) -> None:
    file = tmp_path / "outputs.json"
    OUTPUTS.save(file)
    assert mode(file) == 0o600
    assert Outputs.load(file) == OUTPUTS


def test_outputs_of_an_earlier_version_become_private(tmp_path: Path) -> None:
    file = tmp_path / "outputs.json"
    file.write_text("{}")
    assert mode(file) == 0o666
    OUTPUTS.save(file)
    assert mode(file) == 0o600


def test_a_secret_is_private_before_it_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is made private afterwards can be opened in between, and stays open."""
    opened: list[int] = []
    fdopen = os.fdopen

    def watched(descriptor: int, *arguments: Any) -> Any:
        opened.append(stat.S_IMODE(os.fstat(descriptor).st_mode))
        return fdopen(descriptor, *arguments)

    monkeypatch.setattr(os, "fdopen", watched)
    write_private(tmp_path / "secret", "value")
    assert opened == [0o600]


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    file = tmp_path / "outputs.json"
    OUTPUTS.save(file)
    with pytest.raises(UnicodeEncodeError):
        write_private(file, "half of it \ud800")
    assert json.loads(file.read_text())["admin_token"] == "rl_secret"
    assert list(tmp_path.iterdir()) == [file]


def test_the_private_key_of_the_simulated_app_is_readable_by_its_owner_only(tmp_path: Path) -> None:
    key_file = tmp_path / "key.pem"
    key = Credentials(key_file).private_key
    assert mode(key_file) == 0o600
    assert Credentials(key_file).private_key == key


def test_what_a_server_writes_is_readable_by_its_owner_only(tmp_path: Path) -> None:
    server = Server("test server", tmp_path / "server")
    port = free_port()
    try:
        command = [sys.executable, "-c", SERVER, str(port)]
        server.start(command, port=port, health_path="/", environment=os.environ, working_folder=tmp_path)
        assert mode(tmp_path / "server") == 0o700
        assert mode(tmp_path / "written") == 0o600
    finally:
        server.stop()
