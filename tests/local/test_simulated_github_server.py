"""Routing and transport of the simulated GitHub."""

import pytest

from local.github import SimulatedGitHub
from tests.local.github_client import Client


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/app/"), ("GET", "/app/hook//deliveries"), ("POST", "/app"), ("GET", "/repos/acme/web/actions/runs")],
)
def test_unknown_route_returns_404_without_a_redirect(github: SimulatedGitHub, method: str, path: str) -> None:
    assert Client(github).as_app().call(method, path).status == 404


def test_path_parameters_are_matched_as_sent(github: SimulatedGitHub) -> None:
    github.state.put("runs", 5, repository="acme/web%2Fapi")
    github.state.put("installations", 7, account="acme")
    acme = Client(github).as_installation(7)
    assert acme.get("/repos/acme/web%2Fapi/actions/runs/5").status == 200


def test_server_listens_on_the_loopback_interface_only(github: SimulatedGitHub) -> None:
    assert github._server.server_address[0] == "127.0.0.1"
