"""A token that is limited to some installations sees and cleans the machines that are proven to be theirs."""

from typing import Any

import pytest
from runledger.model.assignments import Occurrence, OccurrenceKind
from runledger.model.runner import Runner
from runledger.tables.runners import RunnersTable

from tests.api.client import TOKENS, Client
from tests.api.conftest import ELSEWHERE
from tests.functions.conftest import World
from tests.support import runner_items
from tests.support.ledgers import RUNNERS
from tests.support.runner_events import INSTANCE
from tests.support.webhooks import INSTALLATION

EARLIER, AT = "2025-01-15T10:00:00.000Z", "2025-01-15T11:50:00.000Z"


@pytest.fixture
def runners(world: World) -> RunnersTable:
    return RunnersTable(world.dynamodb, RUNNERS, retention_days=14)


def claimed(runners: RunnersTable, **more: Any) -> Runner:
    """A runner that a job claims, of the installation that the limited token can read."""
    return runner_items.claimed(
        runners, INSTANCE, at=EARLIER, installation_id=ELSEWHERE, job_id=1, repo_full_name="acme/web", **more
    )


def proven_by_event(runners: RunnersTable) -> None:
    runner_items.launched(runners, INSTANCE, installation_id=ELSEWHERE, job_id=1, at=EARLIER)


def proven_by_tag(runners: RunnersTable) -> None:
    claimed(runners, owner_name="acme")


def only_claimed(runners: RunnersTable) -> None:
    claimed(runners)


def of_another(runners: RunnersTable) -> None:
    runner_items.launched(runners, INSTANCE, installation_id=INSTALLATION, job_id=1, at=EARLIER)


def of_no_owner(runners: RunnersTable) -> None:
    started = Occurrence(EARLIER, OccurrenceKind.STARTED)
    runners.change(INSTANCE, at=EARLIER, change=lambda runner: runner.after(started))


@pytest.mark.parametrize(
    ("state", "sees"),
    [(proven_by_event, True), (proven_by_tag, True), (only_claimed, False), (of_another, False), (of_no_owner, False)],
)
def test_a_limited_operator_sees_and_cleans_only_proven_machines(
    api: Client, runners: RunnersTable, pass_requests: list[Any], state: Any, sees: bool
) -> None:
    state(runners)
    assert runners.suspect(INSTANCE, at=AT, reason="job_completed")
    limited = api.with_token(TOKENS["scoped"])
    assert limited.get("/admin/orphans").body["total"] == int(sees)
    assert limited.post(f"/admin/orphans/{INSTANCE}/cleanup").status == (202 if sees else 404)
    assert len(pass_requests) == int(sees)
    assert api.get("/admin/orphans").body["total"] == 1


def test_contested_machines_are_shown_to_tokens_without_limits_and_cannot_be_cleaned(
    api: Client, runners: RunnersTable
) -> None:
    claimed(runners)
    contest = {"contested_at": AT, "contested_by": INSTALLATION}
    runners.change(INSTANCE, at=AT, change=lambda runner: runner.with_values(**contest))
    (shown,) = api.get("/admin/orphans", status="contested").body["orphans"]
    assert (shown["runner_id"], shown["claimed_by"], shown["detected_at"]) == (INSTANCE, [ELSEWHERE, INSTALLATION], AT)
    assert "job_id" not in shown
    assert api.get("/admin/orphans").body["total"] == 0
    assert api.post(f"/admin/orphans/{INSTANCE}/cleanup").status == 409
    limited = api.with_token(TOKENS["scoped"])
    assert limited.get("/admin/orphans", status="contested").body["total"] == 0
    assert limited.post(f"/admin/orphans/{INSTANCE}/cleanup").status == 404
