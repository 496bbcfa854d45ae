"""Runs and deployments as their tables store them, and the heads that follow."""

from collections.abc import Iterable, Mapping
from typing import Any

from runledger.model.releases import EnvironmentKey, HeadKey
from runledger.releases.recorder import HeadRecorder
from runledger.releases.stream import ReleaseStream
from runledger.tables import schema
from runledger.tables.attributes import to_attributes
from runledger.tables.heads import HeadsTable

from tests.feeds.streams import ALL_TABLES
from tests.simulation.engine import Engine

SCOPE, REPO, BRANCH, WORKFLOW, ENVIRONMENT = 7, "acme/shop", "main", 31, "production"
MAIN = HeadKey(SCOPE, REPO, BRANCH, WORKFLOW, is_default_branch=True)
PRODUCTION = EnvironmentKey(SCOPE, REPO, ENVIRONMENT)
RELEASES = schema.RELEASES.name
STREAMED = {schema.WORKFLOW_RUNS.name: schema.WORKFLOW_RUNS.name, schema.DEPLOYMENTS.name: schema.DEPLOYMENTS.name}

Item = dict[str, Any]


def run(
    run_id: int, conclusion: str | None = None, *, attempt: int = 1, status: str | None = None, **changes: Any
) -> Item:
    """Completed if it has a conclusion. Later attempts end later."""
    status = status or ("completed" if conclusion else "queued")
    minute = run_id + 10 * (attempt - 1)
    second = {"queued": 0, "in_progress": 10, "completed": 50}[status]
    item = {
        "installation_id": SCOPE,
        "repo_full_name": REPO,
        "head_branch": BRANCH,
        "default_branch": BRANCH,
        "workflow_id": WORKFLOW,
        "workflow_name": "CI",
        "run_id": run_id,
        "run_attempt": attempt,
        "event": "push",
        "status": status,
        "conclusion": conclusion,
        "actor": "octocat",
        "head_sha": f"{run_id:040x}",
        "created_at": f"2026-11-17T10:{run_id:02}:00.000Z",
        "updated_at": f"2026-11-17T10:{minute:02}:{second:02}.000Z",
        "head_committed_at": f"2026-11-17T09:{run_id:02}:00.000Z",
        "run_html_url": f"https://github.com/{REPO}/actions/runs/{run_id}",
        **changes,
    }
    return {name: value for name, value in item.items() if value is not None}


def deployment(deployment_id: int, sha: str = "a", **changes: Any) -> Item:
    """`changes` may contain times of states, as minutes after ten."""
    times = {name: f"2026-11-17T10:{value:02}:00.000Z" for name, value in changes.items() if name.endswith("ed_at")}
    times |= {"inactive_at": f"2026-11-17T10:{changes['inactive_at']:02}:00.000Z"} if "inactive_at" in changes else {}
    item = {
        "installation_id": SCOPE,
        "repo_full_name": REPO,
        "environment": ENVIRONMENT,
        "status": "approved",
        "deployment_id": deployment_id,
        "head_sha": sha * 40,
        "ref": "main",
        "creator": "octocat",
        "is_production": True,
        "created_at": f"2026-11-17T09:{deployment_id:02}:00.000Z",
        **changes,
        **times,
    }
    return {name: value for name, value in item.items() if value is not None}


def heads_table(client: Any) -> HeadsTable:
    return HeadsTable(client, RELEASES, retention_days=90)


def recorder(client: Any) -> HeadRecorder:
    return HeadRecorder(table=heads_table(client))


def empty_engine() -> Engine:
    return Engine(ALL_TABLES)


def record(table: str, after: Mapping[str, Any], before: Mapping[str, Any] | None = None, *, number: int = 1) -> Item:
    images = {"NewImage": to_attributes(after)} | ({"OldImage": to_attributes(before)} if before else {})
    return {
        "eventID": f"e{number}",
        "eventName": "MODIFY" if before else "INSERT",
        "eventSourceARN": f"arn:aws:dynamodb:us-east-1:000000000000:table/{table}/stream/2025-01-15T10:00:00.000",
        "dynamodb": {"SequenceNumber": str(number), "Keys": {"PK": {"S": "a"}}, **images},
    }


def stream(client: Any, discarded: list[Any] | None = None) -> ReleaseStream:
    discard = discarded.append if discarded is not None else _unexpected
    return ReleaseStream(recorder=recorder(client), tables=STREAMED, discard=discard)


def releases(tables: Mapping[str, Any]) -> dict[Any, Any]:
    """The table without versions, which count the writes that an order needed."""
    return {
        key: {name: value for name, value in item.items() if name != "version"}
        for key, item in tables[RELEASES].items()
    }


def snapshot(engine: Engine) -> dict[Any, Any]:
    return releases(engine.snapshot().items)


def ended(engine: Engine, changes: Iterable[Item]) -> dict[Any, Any]:
    """The table after each change was recorded on its own, in this order."""
    heads = recorder(engine)
    for change in changes:
        (heads.record_deployments if "deployment_id" in change else heads.record_runs)([change])
    return snapshot(engine)


def _unexpected(record: Any) -> None:
    raise AssertionError(f"discarded {record}")
