"""Which API URL, token and installation a command uses."""

import json
from pathlib import Path

import pytest
from runledger_cli.connection import Connection, find
from runledger_cli.errors import UsageError

from tests.cli.canned_api import TOKEN, CannedApi
from tests.cli.command import runledger
from tests.cli.conftest import Cli
from tests.cli.responses import INSTALLATION, installations

ENVIRONMENT = {"RUNLEDGER_API_URL": "https://of-the-environment", "RUNLEDGER_TOKEN": "its-token"}


def deployed(folder: Path, api_url: str = "http://127.0.0.1:4566/api") -> Path:
    """What `make up` leaves in a folder."""
    (folder / ".local").mkdir()
    outputs = {"api_url": api_url, "admin_token": TOKEN, "region": "us-east-1"}
    (folder / ".local" / "outputs.json").write_text(json.dumps(outputs))
    return folder


def test_options_override_environment_variables(tmp_path: Path) -> None:
    found = find(api_url="https://given/", token="given", environment=ENVIRONMENT, folder=deployed(tmp_path))
    assert found == Connection(api_url="https://given", token="given")


def test_environment_variables_override_a_local_deployment(tmp_path: Path) -> None:
    found = find(api_url=None, token=None, environment=ENVIRONMENT, folder=deployed(tmp_path))
    assert found == Connection(api_url="https://of-the-environment", token="its-token")


def test_a_token_of_the_environment_is_not_sent_where_a_folder_points(tmp_path: Path) -> None:
    token_only = {"RUNLEDGER_TOKEN": "its-token"}
    assert find(api_url=None, token=None, environment=token_only, folder=deployed(tmp_path)).token == TOKEN


def test_a_token_of_a_folder_is_not_sent_to_an_address_that_was_given(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no token for https://given"):
        find(api_url="https://given", token=None, environment={}, folder=deployed(tmp_path))


def test_a_local_deployment_is_found_from_any_folder_below_it(api: CannedApi, tmp_path: Path) -> None:
    below = deployed(tmp_path, api.url) / "docs" / "deep"
    below.mkdir(parents=True)
    shown = runledger("installations", folder=below)
    file = tmp_path / ".local" / "outputs.json"
    assert (shown.returncode, shown.stderr) == (0, f"runledger: using {api.url} from {file}\n")
    assert str(INSTALLATION) in shown.stdout


def test_a_local_deployment_in_the_current_folder_is_used_silently(api: CannedApi, tmp_path: Path) -> None:
    shown = runledger("installations", folder=deployed(tmp_path, api.url))
    assert (shown.returncode, shown.stderr) == (0, "")


def test_an_invalid_outputs_file_is_named_in_the_error(tmp_path: Path) -> None:
    (deployed(tmp_path) / ".local" / "outputs.json").write_text("{}")
    with pytest.raises(UsageError, match=r"outputs\.json isn't valid"):
        find(api_url=None, token=None, environment={}, folder=tmp_path)


@pytest.mark.parametrize("address", ["example.com", "file:///etc/passwd", "https://"])
def test_a_url_must_be_http_or_https(address: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="isn't an API URL"):
        find(api_url=address, token="t", environment={}, folder=tmp_path)


def test_without_any_api_the_command_explains_how_to_name_one(tmp_path: Path) -> None:
    refused = runledger("stuck", folder=tmp_path)
    assert refused.returncode == 2
    assert "--api-url" in refused.stderr


def test_of_several_installations_one_must_be_chosen(api: CannedApi, cli: Cli) -> None:
    api.respond("GET installations", installations(7, 8))
    refused = cli("stuck")
    assert refused.returncode == 2
    assert "--installation: 7 (org-7), 8 (org-8)" in refused.stderr


def test_an_installation_that_is_named_is_not_looked_up(api: CannedApi, cli: Cli) -> None:
    api.respond("GET installations/8/stuck", {"items": [], "next_cursor": None})
    assert cli("--installation", "8", "stuck").returncode == 0
    assert [each.path for each in api.requests] == ["/v1/installations/8/stuck"]


def test_a_ledger_without_installations_reports_that(api: CannedApi, cli: Cli) -> None:
    api.respond("GET installations", installations())
    refused = cli("stuck")
    assert (refused.returncode, refused.stderr) == (
        1,
        "runledger: no installations yet: one appears with its first webhook\n",
    )
