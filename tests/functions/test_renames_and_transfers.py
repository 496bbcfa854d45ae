"""A repository that gets another name or owner in the middle of a job: the job keeps its key, so it has one history."""

import itertools
import json
from typing import Any

import pytest
from runledger.model.reports import NO_INSTALLATION

from tests.functions.conftest import World
from tests.support import messages
from tests.support.beds import items
from tests.support.ledgers import EVENTS, JOBS, RUNS
from tests.support.webhooks import COMPLETED, IN_PROGRESS, INSTALLATION, JOB, QUEUED, REPO, RUN, http_event, payload

STEPS = (QUEUED, IN_PROGRESS, COMPLETED)
RENAMED, TRANSFERRED = "lineville/renamed", "acme/elastic-machines-testing"


def deliver(world: World, step: str, repo: str, installation_id: int) -> None:
    owner = repo.partition("/")[0]
    body: dict[str, Any] = payload(step)
    body["repository"] |= {"full_name": repo, "owner": body["repository"]["owner"] | {"login": owner}}
    body["organization"] = {"login": owner}
    body["installation"] = {"id": installation_id} if installation_id != NO_INSTALLATION else None
    at = 1_736_935_200_000 + 1000 * STEPS.index(step)
    event = http_event(json.dumps(body).encode(), guid=f"{step} of {repo}", at_epoch_ms=at)
    assert world.invoke("webhook_intake", event)["statusCode"] == 202


def jobs(world: World) -> list[dict[str, Any]]:
    return [item for item in items(world.dynamodb, JOBS) if item["SK"] == "v"]


@pytest.mark.parametrize(
    ("repo", "installation_id"),
    [(RENAMED, INSTALLATION), (RENAMED, NO_INSTALLATION), (TRANSFERRED, NO_INSTALLATION)],
    ids=["rename, App", "rename, hook", "transfer, hook"],
)
@pytest.mark.parametrize("order", list(itertools.permutations(STEPS)), ids="-".join)
def test_a_rename_or_transfer_of_an_open_job_keeps_one_history(
    world: World, repo: str, installation_id: int, order: tuple[str, ...]
) -> None:
    names = {QUEUED: REPO, IN_PROGRESS: repo, COMPLETED: repo}
    for step in order:
        deliver(world, step, names[step], installation_id)
    (job,) = jobs(world)
    assert (job["status"], job["repo_full_name"], job["org_name"]) == ("completed", repo, repo.partition("/")[0])
    assert job["by_repo"] == f"{installation_id}#{repo}"
    history = items(world.dynamodb, EVENTS)
    assert {event["PK"] for event in history} == {f"{installation_id}#{JOB}"}
    assert sorted(event["event_type"] for event in history) == sorted(f"webhook_{step}" for step in STEPS)
    (run,) = items(world.dynamodb, RUNS)
    assert (run["PK"], run["total_jobs"], run["completed_jobs"]) == (f"{installation_id}#{RUN}#1", 1, 1)


def test_the_newest_report_of_a_run_names_the_repository(world: World) -> None:
    for action, repo in (("requested", REPO), ("completed", RENAMED)):
        event, body = messages.run(action)
        body["repository"]["full_name"] = repo
        world.invoke("webhook_intake", http_event(json.dumps(body).encode(), guid=action, event=event))
    (run,) = items(world.dynamodb, RUNS)
    assert (run["status"], run["repo_full_name"]) == ("completed", RENAMED)


def test_a_transfer_to_another_installation_never_mixes_the_histories_of_two_tenants(world: World) -> None:
    deliver(world, QUEUED, REPO, INSTALLATION)
    deliver(world, IN_PROGRESS, TRANSFERRED, INSTALLATION + 1)
    deliver(world, COMPLETED, TRANSFERRED, INSTALLATION + 1)
    assert {job["installation_id"]: (job["repo_full_name"], job["status"]) for job in jobs(world)} == {
        INSTALLATION: (REPO, "queued"),
        INSTALLATION + 1: (TRANSFERRED, "completed"),
    }
