"""Webhooks that live intake has copied to S3 are imported into empty tables: the ledger is the same as before.

With 120 objects, and with as many as MIGRATION_OBJECTS: `make migration` imports 5,000.
"""

import os
import signal
import subprocess
import sys
import time
from typing import Any

import pytest
from runledger.webhooks.intake import Intake

from tests.cli.command import environment
from tests.migration.conftest import BUCKET, Account
from tests.migration.history import FIRST_JOB, History
from tests.support.webhooks import INSTALLATION, sign

pytestmark = pytest.mark.server

Tables = dict[str, list[dict[str, Any]]]
OBJECTS = int(os.environ.get("MIGRATION_OBJECTS", "120"))
SOURCE = f"s3://{BUCKET}"
SECONDS_BEFORE_INTERRUPTION = 60


def receive_live(live: Intake, objects: int) -> None:
    for delivery in History.of_last_days(objects).deliveries():
        live.receive(delivery, sign(delivery.body))


def interrupted_import(account: Account, rate: int) -> str:
    """Ctrl-C after the first tenth. Returns what it printed."""
    command = [sys.executable, "-m", "runledger_cli", "migrate", SOURCE, "--rate", str(rate)]
    with subprocess.Popen(
        command, env=environment(**account.variables), stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stderr is not None
        first = child.stderr.readline()
        child.send_signal(signal.SIGINT)
        rest = child.communicate(timeout=SECONDS_BEFORE_INTERRUPTION)[1]
    assert child.returncode == 130, rest
    return first + rest


def comparable(tables: Tables) -> Tables:
    """A run expires some days after the last change of a job, and jobs are imported in the order of keys."""
    runs = [{name: value for name, value in run.items() if name != "ttl"} for run in tables["workflow_runs"]]
    return tables | {"workflow_runs": runs}


def plant_differences(account: Account) -> None:
    dynamodb = account.client("dynamodb")

    def key(job: int) -> dict[str, Any]:
        return {"PK": {"S": f"{INSTALLATION}#{FIRST_JOB + job}"}, "SK": {"S": "v"}}

    dynamodb.update_item(
        TableName="workflow_jobs",
        Key=key(0),
        UpdateExpression="SET conclusion = :wrong",
        ExpressionAttributeValues={":wrong": {"S": "timed_out"}},
    )
    dynamodb.delete_item(TableName="workflow_jobs", Key=key(1))
    dynamodb.update_item(TableName="workflow_jobs", Key=key(2), UpdateExpression="REMOVE head_sha")
    dynamodb.update_item(
        TableName="workflow_jobs",
        Key=key(6),
        UpdateExpression="SET #status = :earlier",
        ExpressionAttributeNames={"#status": "status"},
        ExpressionAttributeValues={":earlier": {"S": "in_progress"}},
    )


def test_an_interrupted_and_repeated_import_leaves_the_ledger_of_live_intake(
    account: Account, live: Intake, capsys: pytest.CaptureFixture[str]
) -> None:
    began = time.monotonic()
    receive_live(live, OBJECTS)
    expected = account.tables()
    assert len(expected["workflow_job_events"]) == OBJECTS
    received = time.monotonic()
    account.empty_tables()

    dry = account.json("migrate", SOURCE, "--dry-run", "--rate", "10000")
    assert (dry["imported"], dry["dry_run"]) == (OBJECTS, True)
    assert not any(account.tables().values())

    printed = interrupted_import(account, rate=max(50, OBJECTS // 10))
    assert "the import was interrupted. Run the same command again to continue" in printed
    partial = len(account.tables()["workflow_job_events"])
    assert 0 < partial < OBJECTS

    first = account.json("migrate", SOURCE, "--rate", "10000")
    imported = time.monotonic()
    assert first["resumed_after"]
    assert first["imported"] + first["already_recorded"] == OBJECTS
    assert comparable(account.tables()) == comparable(expected)

    second = account.json("migrate", SOURCE, "--rate", "10000")
    assert (second["imported"], second["already_recorded"], second["resumed_after"]) == (0, OBJECTS, None)
    assert comparable(account.tables()) == comparable(expected)

    verified = account.json("verify", SOURCE, "--rate", "10000")
    assert (verified["differing_jobs"], verified["differences"], verified["unreadable"]) == (0, [], 0)

    plant_differences(account)
    found = account.json("verify", SOURCE, "--rate", "10000", exit_code=1)
    assert [(each["job_id"] - FIRST_JOB, each["attribute"]) for each in found["differences"]] == [
        (0, "conclusion"),
        (1, "job"),
        (2, "head_sha"),
        (6, "status"),
    ]
    assert found["matching_jobs"] == verified["matching_jobs"] - 4
    with capsys.disabled():
        print(
            f"\n{OBJECTS} objects: live intake {received - began:.0f} s, interrupted after {partial}, import completed "
            f"after {imported - received:.0f} s, {verified['matching_jobs']} jobs verified, "
            f"{time.monotonic() - began:.0f} s altogether"
        )
