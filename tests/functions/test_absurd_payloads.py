"""Signed but absurd: a bounded, valid item is stored or the delivery is refused; nothing crashes."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.functions.conftest import World
from tests.support.beds import dump, items
from tests.support.ledgers import JOBS
from tests.support.webhooks import COMPLETED, QUEUED, http_event, payload

LARGEST_ITEM_WE_STORE = 64 * 1024
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=8,
)

ABSURD: dict[str, dict[str, Any]] = {
    "huge labels": {"labels": ["x" * 100_000] * 20},
    "ten thousand labels": {"labels": [f"label {n}" for n in range(10_000)]},
    "ten thousand steps": {"steps": [{"name": f"step {n}", "number": n} for n in range(10_000)]},
    "every kind of character": {"name": "\N{PILE OF POO}\u202e\u0000\u200f\ud800 <script>", "workflow_name": "\u0000"},
    "texts without end": dict.fromkeys(("name", "head_branch", "head_sha", "html_url", "runner_name"), "y" * 50000),
    "years beyond reason": {"created_at": "0001-01-01T00:00:00+14:00", "completed_at": "9999-12-31T23:59:59-14:00"},
    "numbers beyond reason": {"runner_id": 10**30, "runner_group_id": -1, "workflow_id": 1e308},
    "null everywhere else": {
        name: None for name in payload(QUEUED)["workflow_job"] if name not in ("id", "run_id", "run_attempt")
    },
}


@pytest.mark.parametrize("changes", ABSURD.values(), ids=ABSURD)
@pytest.mark.parametrize("step", [QUEUED, COMPLETED])
def test_an_absurd_job_is_stored_within_bounds(world: World, step: str, changes: dict[str, Any]) -> None:
    response = world.invoke("webhook_intake", http_event(json.dumps(payload(step, **changes)).encode()))
    assert response["statusCode"] == 202
    stored = json.dumps(dump(world.dynamodb), default=str)
    assert len(stored.encode()) < LARGEST_ITEM_WE_STORE
    assert items(world.dynamodb, JOBS)[0]["job_id"] == payload(step)["workflow_job"]["id"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(data=st.data(), sections=st.lists(st.sampled_from(["workflow_job", "repository", ""]), max_size=6))
def test_whatever_stands_in_a_payload_it_is_stored_or_refused(
    world: World, data: st.DataObject, sections: list[str]
) -> None:
    message = payload(data.draw(st.sampled_from([QUEUED, COMPLETED])))
    for section in sections:
        target = message.get(section) if section else message
        if isinstance(target, dict) and target:
            target[data.draw(st.sampled_from(sorted(target)))] = data.draw(ANYTHING)
    response = world.invoke("webhook_intake", http_event(json.dumps(message).encode()))
    assert response["statusCode"] in (200, 202, 400)
