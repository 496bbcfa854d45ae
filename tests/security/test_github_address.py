"""Tokens for GitHub never travel unencrypted, except to the simulated GitHub on this machine."""

import time

import pytest
from runledger_github.connection import Connection
from runledger_github.retries import Deadline

from stacks.settings import Settings
from stacks.settings_reader import BadSetting

UNENCRYPTED = [
    "http://api.github.com",
    "http://ghes.example.com/api/v3",
    "http://10.0.0.1/api/v3",
    "http://localhost.example.com",
    "http://127.0.0.1.example.com",
    "http://localhost@ghes.example.com",
    "http://127.0.0.1:80@ghes.example.com",
    "https://user@ghes.example.com",
    "ftp://ghes.example.com",
    "//ghes.example.com",
]
ENCRYPTED_OR_LOCAL = [
    "https://api.github.com",
    "https://ghes.example.com:8443/api/v3",
    "http://127.0.0.1:4567",
    "http://localhost:4567/api/v3",
    "http://[::1]:4567",
]


@pytest.mark.parametrize("address", UNENCRYPTED)
def test_the_setting_must_be_https(address: str) -> None:
    with pytest.raises(BadSetting, match=r"^github_api_url is .*; it must be the https address"):
        Settings.read({"github_api_url": address}.get)


@pytest.mark.parametrize("address", UNENCRYPTED)
def test_the_client_must_use_https(address: str) -> None:
    """Its address is an environment variable of the functions, which can be changed without the settings."""
    with pytest.raises(ValueError, match="must be an https URL"):
        Connection(address, read_seconds=1, deadline=Deadline(time.time))


@pytest.mark.parametrize("address", ENCRYPTED_OR_LOCAL)
def test_https_and_this_machine_are_allowed(address: str) -> None:
    assert Settings.read({"github_api_url": address}.get).github_api_url == address
    assert Connection(address, read_seconds=1, deadline=Deadline(time.time))
