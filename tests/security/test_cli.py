"""The CLI trusts no server's text, no file it happens to find, and no network but an encrypted one."""

import ast
import io
import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from runledger_cli import main, passes
from runledger_cli.connection import find
from runledger_cli.errors import UsageError
from runledger_cli.rendering.style import COLOUR_CODES

from tests.cli.canned_api import TOKEN, CannedApi, Raw
from tests.cli.command import PACKAGE_FOLDER, runledger
from tests.cli.conftest import api  # noqa: F401 - a fixture
from tests.cli.responses import INSTALLATION, Response, installations
from tests.security.hostile_api import ENDED, SCENES, Scene, variants

JOBS = f"GET installations/{INSTALLATION}/jobs"
OUR_COLOURS = re.compile("|".join(map(re.escape, COLOUR_CODES.values())))

Run = Callable[..., str]


class Terminal(io.TextIOWrapper):
    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8")

    def isatty(self) -> bool:
        return True

    def shown(self) -> str:
        self.flush()
        buffer = self.buffer
        assert isinstance(buffer, io.BytesIO)
        return buffer.getvalue().decode()


@pytest.fixture
def on_a_terminal(api: CannedApi, monkeypatch: pytest.MonkeyPatch) -> Run:  # noqa: F811
    """Run a command in this process, because there are hundreds, and return all that a person would see."""
    monkeypatch.setenv("RUNLEDGER_API_URL", api.url)
    monkeypatch.setenv("RUNLEDGER_TOKEN", TOKEN)
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name in ("POLL_SECONDS", "MAX_WAIT_SECONDS"):  # a pass with a hostile status never ends
        monkeypatch.setattr(passes, name, 0.001)

    def run(*arguments: str) -> str:
        terminal = Terminal()
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", terminal)
            patch.setattr(sys, "stderr", terminal)
            main.main(arguments)
            return terminal.shown()

    return run


def set_responses(server: CannedApi, responses: dict[str, Response]) -> None:
    server.responses = {"GET installations": [installations(INSTALLATION)]}
    for route, given in responses.items():
        server.respond(route, *([given, ENDED] if route.endswith("/events") else [given]))


def unsafe(shown: str) -> set[str]:
    return {each for each in shown if each != "\n" and not each.isprintable()}


@pytest.mark.parametrize("scene", SCENES, ids=str)
def test_no_field_of_a_response_reaches_the_terminal_with_control_characters(
    api: CannedApi,  # noqa: F811
    on_a_terminal: Run,
    scene: Scene,
) -> None:
    seen = 0
    for responses in variants(scene):
        set_responses(api, responses)
        shown = on_a_terminal(*scene.arguments)
        assert unsafe(OUR_COLOURS.sub("", shown)) == set()
        assert not re.search(r"\x1b\[[\d;]*mhostile", shown), "a server chose a colour"
        assert "Traceback" not in shown
        seen += "hostile" in shown
    assert seen, "no hostile text was shown, so nothing was tested"


@pytest.mark.parametrize("scene", SCENES, ids=str)
def test_json_on_a_terminal_is_plain_ascii(api: CannedApi, on_a_terminal: Run, scene: Scene) -> None:  # noqa: F811
    for responses in variants(scene):
        set_responses(api, responses)
        shown = on_a_terminal(*scene.arguments, "--json", "--no-color")
        assert unsafe(shown) == set()


def test_json_keeps_every_character_for_programs(api: CannedApi) -> None:  # noqa: F811
    given = {"items": [{"org_name": "\x1b[2J\u202e\x7f\n🚀"}], "next_cursor": None}
    api.respond("GET installations", given)
    shown = runledger("installations", "--json", RUNLEDGER_API_URL=api.url, RUNLEDGER_TOKEN=TOKEN)
    assert json.loads(shown.stdout) == given


@pytest.mark.parametrize(
    "response",
    [
        Raw(302, b"", {"Location": "https://evil.test/\x1b[2J"}),
        Raw(500, b'{"message": "\\u001b[2J\\u202e"}'),
        Raw(500, b"\x1b[2J"),
        Raw(200, b"\x1b[2J"),
        Raw(200, b"[" * 100_000),
        Raw(400, b'{"title": ["\\u001b[2J"], "errors": [{"\\u001b[2J": 1}, "\\u001b[2J"]}'),
    ],
)
def test_an_error_is_one_safe_line(api: CannedApi, on_a_terminal: Run, response: Raw) -> None:  # noqa: F811
    api.respond(JOBS, response)
    shown = on_a_terminal("jobs", "--status", "queued")
    assert unsafe(shown) == set()
    assert shown.startswith("runledger: ")
    assert shown.count("\n") == 1


def test_only_the_screen_prints() -> None:
    """It filters what it prints; a `print` anywhere else would not be filtered."""
    writing = set()
    for file in PACKAGE_FOLDER.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            printed = isinstance(node, ast.Name) and node.id == "print"
            written = isinstance(node, ast.Attribute) and node.attr in ("write", "writelines", "buffer")
            if printed or written:
                writing.add(file.name)
    assert writing == {"screen.py"}


def test_a_cursor_can_be_pasted_into_a_shell(api: CannedApi, on_a_terminal: Run) -> None:  # noqa: F811
    api.respond(JOBS, {"items": [], "next_cursor": "x; rm -rf ~"})
    assert "--cursor 'x; rm -rf ~'" in on_a_terminal("jobs", "--status", "queued")


@pytest.mark.parametrize(
    "address",
    [
        "http://ledger.example.com",
        "http://10.0.0.1",
        "http://169.254.169.254",
        "http://localhost.example.com",
        "http://127.0.0.1.example.com",
        "http://0.0.0.0",
        "http://[::]",
        "HTTP://ledger.example.com",
    ],
)
def test_a_token_is_never_sent_unencrypted_to_another_machine(address: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="would send the token unencrypted: use https"):
        find(api_url=address, token=TOKEN, environment={}, folder=tmp_path)


@pytest.mark.parametrize(
    "address",
    ["http://127.0.0.1:4566", "http://127.8.9.1", "http://localhost:1", "http://[::1]:4566/x", "https://ledger.test"],
)
def test_https_and_this_machine_are_allowed(address: str, tmp_path: Path) -> None:
    assert find(api_url=address, token=TOKEN, environment={}, folder=tmp_path).api_url == address


@pytest.mark.parametrize(
    "address", ["http://localhost@evil.test", "http://evil.test\\@localhost/", "https://[localhost", "//localhost"]
)
def test_an_address_that_two_parsers_read_differently_is_rejected(address: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="isn't an API URL"):
        find(api_url=address, token=TOKEN, environment={}, folder=tmp_path)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(api: CannedApi, on_a_terminal: Run, status: int) -> None:  # noqa: F811
    with CannedApi() as stranger:
        api.respond(JOBS, Raw(status, b"", {"Location": f"{stranger.url}/v1/installations"}))
        shown = on_a_terminal("jobs", "--status", "queued")
        assert stranger.requests == []
    assert f"the API redirects to {stranger.url}/v1/installations, which is not followed" in shown


def test_a_proxy_gets_no_request_for_this_machine(api: CannedApi) -> None:  # noqa: F811
    """Such a request is plain http, so the proxy would see the token."""
    with CannedApi() as proxy:
        shown = runledger("installations", RUNLEDGER_API_URL=api.url, RUNLEDGER_TOKEN=TOKEN, http_proxy=proxy.url)
        assert (shown.returncode, proxy.requests) == (0, [])


def outputs(folder: Path, api_url: str) -> Path:
    (folder / ".local").mkdir()
    file = folder / ".local" / "outputs.json"
    file.write_text(json.dumps({"api_url": api_url, "admin_token": TOKEN}))
    return file


def test_a_file_in_a_parent_folder_is_named_before_it_is_used(tmp_path: Path) -> None:
    file = outputs(tmp_path, "http://127.0.0.1:9")
    below = tmp_path / "project"
    below.mkdir()
    shown = runledger("installations", folder=below)
    assert shown.stderr.splitlines()[0] == f"runledger: using http://127.0.0.1:9 from {file}"


@pytest.mark.parametrize("address", ["https://evil.test", "https://127.0.0.1.evil.test"])
def test_a_discovered_file_cannot_name_another_machine(address: str, tmp_path: Path) -> None:
    """`make up` writes loopback addresses only. A cloned repository could contain anything."""
    outputs(tmp_path, address)
    with pytest.raises(UsageError, match=f"names {address}, which isn't on this machine: pass --api-url"):
        find(api_url=None, token="my-own", environment={}, folder=tmp_path)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file away")
def test_a_discovered_file_of_another_user_is_rejected(tmp_path: Path) -> None:
    os.chown(outputs(tmp_path, "http://127.0.0.1:9"), 65_534, 65_534)
    with pytest.raises(UsageError, match=r"outputs\.json belongs to another user"):
        find(api_url=None, token="my-own", environment={}, folder=tmp_path)
