"""URLs that may carry a token: https, or http on this machine. The CLI has the same rule."""

import pytest
from runledger.model.addresses import is_encrypted_or_local, is_loopback
from runledger_cli import connection

HOSTS = {
    "localhost": True,
    "127.0.0.1": True,
    "127.8.8.8": True,
    "::1": True,
    "0.0.0.0": False,  # noqa: S104 - compared, and not listened on
    "10.0.0.1": False,
    "localhost.example.com": False,
    "127.0.0.1.example.com": False,
    "": False,
}


@pytest.mark.parametrize(("host", "expected"), HOSTS.items())
def test_a_host_is_on_this_machine_for_layers_and_command_line_alike(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected
    assert connection._is_loopback(host) is expected


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://api.github.com", True),
        ("http://127.0.0.1:4566/x", True),
        ("http://[::1]:4566", True),
        ("http://api.github.com", False),
        ("ftp://localhost", False),
        ("https:///path", False),
        ("api.github.com", False),
    ],
)
def test_a_token_leaves_this_machine_only_encrypted(url: str, expected: bool) -> None:
    assert is_encrypted_or_local(url) is expected
