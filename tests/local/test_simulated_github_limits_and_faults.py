"""Budgets, conditional requests, and the faults that the simulated GitHub can be set to."""

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from local.github import SimulatedGitHub
from tests.local.github_client import Client, ManualClock

RUNNERS = "/orgs/acme/actions/runners"


def test_budget_counts_down_and_ends_in_a_refusal(anyone: Client, acme: Client, clock: ManualClock) -> None:
    anyone.put("/_simulation/settings", rate_limit=2)
    assert [acme.get(RUNNERS).headers["x-ratelimit-remaining"] for _ in range(2)] == ["1", "0"]
    refusal = acme.get(RUNNERS)
    assert (refusal.status, refusal.headers["x-ratelimit-remaining"]) == (403, "0")
    assert "API rate limit exceeded" in refusal.document["message"]
    assert int(refusal.headers["x-ratelimit-reset"]) == clock().timestamp() + 3600
    clock.advance(hours=1)
    assert anyone.as_installation(7).get(RUNNERS).headers["x-ratelimit-remaining"] == "1"


def test_a_request_for_the_budget_is_free(acme: Client) -> None:
    acme.get(RUNNERS)
    assert [acme.get("/rate_limit").document["rate"]["used"] for _ in range(2)] == [1, 1]


def test_unchanged_response_is_304_and_free(github: SimulatedGitHub, acme: Client) -> None:
    first = acme.get(RUNNERS)
    again = acme.get(RUNNERS, **{"If-None-Match": first.headers["etag"]})
    assert (again.status, again.document) == (304, None)
    assert again.headers["x-ratelimit-used"] == first.headers["x-ratelimit-used"] == "1"
    github.state.put("runners", 5, scope="acme", name="i-0abc")
    changed = acme.get(RUNNERS, **{"If-None-Match": first.headers["etag"]})
    assert (changed.status, changed.headers["x-ratelimit-used"]) == (200, "2")


@pytest.mark.parametrize(
    ("fault", "status", "headers"),
    [
        ({"kind": "error"}, 502, {}),
        ({"kind": "error", "status": 500}, 500, {}),
        ({"kind": "secondary_limit", "seconds": 30}, 403, {"retry-after": "30"}),
        ({"kind": "primary_limit"}, 403, {"x-ratelimit-remaining": "0"}),
        ({"kind": "primary_limit", "status": 429}, 429, {"x-ratelimit-remaining": "0"}),
    ],
)
def test_fault_strikes_as_often_as_ordered(
    anyone: Client, acme: Client, fault: dict[str, Any], status: int, headers: dict[str, str]
) -> None:
    anyone.post("/_simulation/faults", times=2, **fault)
    replies = [acme.get(RUNNERS) for _ in range(3)]
    assert [reply.status for reply in replies] == [status, status, 200]
    assert headers.items() <= replies[0].headers.items()


def test_fault_for_a_path_lasts_until_it_is_cleared(anyone: Client, acme: Client) -> None:
    anyone.post("/_simulation/faults", kind="error", times=None, method="GET", path="/orgs/*")
    assert acme.get("/rate_limit").status == 200
    assert [acme.get(RUNNERS).status for _ in range(3)] == [502, 502, 502]
    assert acme.delete(f"{RUNNERS}/5").status == 404
    anyone.delete("/_simulation/faults")
    assert acme.get(RUNNERS).status == 200


def test_slow_response_comes_after_the_work_is_done(
    github: SimulatedGitHub, anyone: Client, acme: Client, paused: list[float]
) -> None:
    github.state.put("runners", 5, scope="acme", name="i-0abc")
    anyone.post("/_simulation/faults", kind="slow", seconds=30)
    assert acme.delete(f"{RUNNERS}/5").status == 204
    assert paused == [30]
    assert acme.delete(f"{RUNNERS}/5").status == 404


def test_the_server_stops_at_once_after_a_client_timed_out() -> None:
    with SimulatedGitHub() as github:
        github.state.add_fault(kind="slow", seconds=3600)
        with pytest.raises(TimeoutError):
            Client(github, timeout=0.1).get("/app")


@pytest.mark.parametrize(
    ("path", "body", "complaint"),
    [
        ("/_simulation/runs/1", {"repository": "acme/web", "stauts": "queued"}, "stauts"),
        ("/_simulation/runs/1", {}, "repository"),
        ("/_simulation/jobs/1", {"run_id": 99}, "create the run first"),
        ("/_simulation/settings", {"webhook": "x"}, "webhook"),
    ],
)
def test_mistakes_in_the_set_up_are_named(anyone: Client, path: str, body: dict[str, Any], complaint: str) -> None:
    reply = anyone.put(path, **body)
    assert reply.status == 422
    assert complaint in reply.document["message"]


def test_unknown_kind_of_fault_is_refused(anyone: Client) -> None:
    assert anyone.post("/_simulation/faults", kind="earthquake").status == 422
    assert anyone.put("/_simulation/planets/1").status == 404


def test_reset_forgets_what_happened_and_keeps_the_wiring(anyone: Client, acme: Client) -> None:
    anyone.put("/_simulation/settings", webhook_url="http://127.0.0.1:9/", rate_limit=1)
    acme.get(RUNNERS)
    assert anyone.post("/_simulation/reset").status == 204
    assert anyone.get("/_simulation/calls").document == {}
    settings = anyone.get("/_simulation/settings").document
    assert (settings["webhook_url"], settings["rate_limit"]) == ("http://127.0.0.1:9/", 5000)
    assert acme.get(RUNNERS).status == 401
    anyone.put("/_simulation/installations/7", account="acme")
    assert acme.get(RUNNERS).status == 200


def test_key_file_keeps_the_apps_key_between_starts(tmp_path: Path) -> None:
    key_file = tmp_path / "app.pem"
    keys = []
    for _ in range(2):
        with SimulatedGitHub(key_file=key_file) as github:
            keys.append(Client(github).get("/_simulation/app").document["private_key"])
    assert keys[0] == keys[1] == key_file.read_text()
    assert key_file.stat().st_mode & 0o077 == 0


def test_the_program_prints_its_address_and_ends_on_a_signal() -> None:
    command = [sys.executable, "-m", "local.github", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]) as program:
        assert program.stdout is not None
        assert program.stdout.readline().startswith("Simulated GitHub at http://127.0.0.1:")
        program.send_signal(signal.SIGTERM)
        assert program.wait(timeout=10) == 0
