"""`runledger migrate` and `runledger verify` with everything that a real bucket contains."""

import gzip
import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from runledger.migration.objects import LARGEST_BODY
from runledger.webhooks.delivery import Delivery
from runledger.webhooks.intake import Intake
from runledger.wiring import recording
from runledger_cli.migration.result import LISTED_AT_MOST

from tests.cli.command import environment
from tests.migration.conftest import BUCKET, Account
from tests.migration.history import FIRST_JOB, History
from tests.support.settings import forget_wiring
from tests.support.webhooks import COMPLETED, INSTALLATION, JOB, QUEUED, payload, sign

pytestmark = pytest.mark.server

SOURCE = f"s3://{BUCKET}"
FAST = ("--rate", "10000")


def recent(step: str, *, job_id: int = JOB, days_ago: float = 1, **more: Any) -> bytes:
    moment = (datetime.now(UTC) - timedelta(days=days_ago)).strftime("%Y-%m-%dT%H:%M:%SZ")
    times = {"created_at": moment, "started_at": moment}
    if step == COMPLETED:
        times["completed_at"] = moment
    return json.dumps(payload(step, job_id=job_id, **times) | more).encode()


def key(job: int, status: str = QUEUED) -> str:
    return f"webhooks/{INSTALLATION}/{job}/{status}.json"


def job_ids(account: Account) -> list[int]:
    return sorted(item["job_id"] for item in account.tables()["workflow_jobs"] if item["SK"] == "v")


def test_every_object_of_a_real_bucket_is_counted_once(account: Account) -> None:
    account.put(key(1), recent(QUEUED, job_id=1))
    account.put(key(2), gzip.compress(recent(QUEUED, job_id=2)))
    account.put(key(3), b'{"action": "queued", "workflow_job"')
    account.put(key(4), bytes(LARGEST_BODY + 1))
    account.put(key(5), recent(QUEUED, job_id=5), StorageClass="GLACIER")
    account.put(key(6), recent(QUEUED, job_id=6, days_ago=400))
    account.put(key(7), recent(QUEUED, job_id=7) + b" " * 900_000)
    account.put(key(8), recent(QUEUED, job_id=8, action="edited"))
    account.put(key(9), b'{"action": "created", "comment": {}}')
    account.put("webhooks/notes ü+&%20.txt", b"not a webhook")
    account.put("runners/AROA:i-1/runner-config.json", b"{}")
    account.put("webhooks/1/10/queued.json", recent(QUEUED, job_id=10, installation={"id": 1}))
    account.put("webhooks/1/11/queued.json", recent(QUEUED, job_id=11))
    imported = account.json("migrate", SOURCE, *FAST, exit_code=1)
    counts = {
        name: number for name, number in imported.items() if isinstance(number, int) and number and number is not True
    }
    assert counts == {"imported": 4, "expired": 1, "archived": 1, "other_keys": 1, "other_events": 2, "unreadable": 3}
    assert [each["key"] for each in imported["unreadable_objects"]] == ["webhooks/1/11/queued.json", key(3), key(4)]
    assert job_ids(account) == [1, 2, 7, 10]
    verified = account.json("verify", SOURCE, *FAST, exit_code=1)
    assert (verified["matching_jobs"], verified["differences"], verified["unreadable"]) == (4, [], 3)
    limited = account.json("verify", SOURCE, *FAST, "--installation", "1", exit_code=1)
    assert (limited["matching_jobs"], limited["other_installations"]) == (1, 4)


def test_an_import_causes_no_lookup_and_no_rerun(account: Account) -> None:
    """There are no queues in this account: sending to one would fail."""
    account.put(key(1, COMPLETED), recent(COMPLETED, job_id=1, conclusion="failure"))
    assert account.json("migrate", SOURCE, *FAST)["imported"] == 1


def test_a_folder_with_odd_names_is_imported_under_another_installation(account: Account, tmp_path: Path) -> None:
    for number, name in enumerate(("plain", "with space", "ünï&+%41", "line\nbreak"), start=1):
        folder = tmp_path / "old" / name
        folder.mkdir(parents=True)
        (folder / f"{number}.json").write_bytes(recent(QUEUED, job_id=number))
    arguments = (str(tmp_path), "--pattern", "old/*/{job_id}.json", "--map-installation", f"{INSTALLATION}=77", *FAST)
    assert account.json("migrate", *arguments)["imported"] == 4
    jobs = [item for item in account.tables()["workflow_jobs"] if item["SK"] == "v"]
    assert {item["installation_id"] for item in jobs} == {77}
    assert account.json("verify", *arguments)["matching_jobs"] == 4
    assert account.json("migrate", *arguments)["already_recorded"] == 4


def test_an_object_that_is_older_than_the_ledger_changes_nothing_but_the_history(account: Account) -> None:
    account.put(key(1, COMPLETED), recent(COMPLETED, job_id=1))
    account.json("migrate", SOURCE, *FAST)
    (before,) = [item for item in account.tables()["workflow_jobs"] if item["SK"] == "v"]
    account.put(key(1, QUEUED), recent(QUEUED, job_id=1))
    assert account.json("migrate", SOURCE, *FAST)["imported"] == 1
    (after,) = [item for item in account.tables()["workflow_jobs"] if item["SK"] == "v"]
    bookkeeping = {"inputs", "version", "last_updated_at", "ttl"}
    assert {name: value for name, value in after.items() if name not in bookkeeping} == {
        name: value for name, value in before.items() if name not in bookkeeping
    }
    assert len(account.tables()["workflow_job_events"]) == 2


def test_two_imports_and_live_webhooks_at_the_same_time_leave_one_ledger(account: Account, live: Intake) -> None:
    def receive(intake: Intake, deliveries: list[Delivery]) -> None:
        for delivery in deliveries:
            intake.receive(delivery, sign(delivery.body))

    history = History.of_last_days(60).deliveries()
    receive(live, history)
    expected = account.tables()
    account.empty_tables()
    forget_wiring()  # a warm function doesn't register again what it has registered before
    command = [sys.executable, "-m", "runledger_cli", "migrate", SOURCE, *FAST, "--json"]
    variables = [account.variables | {"XDG_STATE_HOME": str(account.state / name)} for name in "ab"]
    imports = [
        subprocess.Popen(command, env=environment(**each), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for each in variables
    ]
    receive(recording.intake(), history[::-1])
    for each in imports:
        _, errors = each.communicate()
        assert each.returncode == 0, errors
    assert unordered(account.tables()) == unordered(expected)


def unordered(tables: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """What doesn't depend on the order of arrival: jobs without their tokens, and which history events there are."""
    jobs = [{k: v for k, v in item.items() if k != "inputs"} for item in tables["workflow_jobs"]]
    runs = [{k: v for k, v in item.items() if k != "ttl"} for item in tables["workflow_runs"]]
    return {"jobs": jobs, "runs": runs, "lines": [(item["PK"], item["SK"]) for item in tables["workflow_job_events"]]}


def test_no_value_or_key_controls_the_terminal(account: Account, tmp_path: Path) -> None:
    """The placeholders of colours count too."""
    hostile = "a\x1b[2J\ufdd4\u202eb"
    folder = tmp_path / "old" / hostile
    folder.mkdir(parents=True)
    message = json.loads(recent(QUEUED, job_id=1))
    message["workflow_job"]["name"] = "genuine"
    (folder / "1.json").write_text(json.dumps(message))
    arguments = (str(tmp_path), "--pattern", "old/*/{job_id}.json", *FAST)
    account.json("migrate", *arguments)
    message["workflow_job"]["name"] = hostile
    (folder / "1.json").write_text(json.dumps(message))
    (folder / "2.json").write_text("no JSON")
    for command in ("verify", "migrate"):
        done = account.runledger(command, *arguments)
        assert (done.returncode, "2.json: body is not JSON" in done.stderr) == (1, True)
        assert command == "migrate" or "job_name is a" in done.stdout
        assert not {"\x1b", "\u202e", "\ufdd4"} & set(done.stdout + done.stderr)


@pytest.mark.parametrize("command", ["migrate", "verify"])
def test_unreadable_objects_that_are_not_listed_are_counted(account: Account, tmp_path: Path, command: str) -> None:
    for number in range(LISTED_AT_MOST + 2):
        (tmp_path / f"{number}.json").write_text("no JSON")
    done = account.runledger(command, str(tmp_path), "--pattern", "{job_id}.json", *FAST)
    notes = [line for line in done.stderr.splitlines() if "%" not in line]
    assert (done.returncode, len(notes)) == (1, LISTED_AT_MOST + 1)
    assert notes[-1] == "runledger: and 2 more: use --json to list them"


def test_verify_prints_a_line_for_each_difference(account: Account) -> None:
    account.put(key(FIRST_JOB), recent(QUEUED, job_id=FIRST_JOB))
    done = account.runledger("verify", SOURCE, *FAST)
    assert done.returncode == 1
    assert done.stdout.splitlines()[0] == f"job {FIRST_JOB} of installation {INSTALLATION}: missing in the ledger"
    assert "differing_jobs       1" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "problem"),
    [
        (["./not-there"], 1, "isn't a folder"),
        (["s3://"], 2, "names no bucket"),
        (["s3://not-there"], 3, "AWS: "),
        ([SOURCE, "--stage", "nowhere"], 1, "there is no stack runledger-nowhere-api"),
        ([SOURCE, "--pattern", "{job}"], 2, "only these names may be in braces"),
        ([SOURCE, "--rate", "0"], 2, "isn't a whole number from 1"),
        ([SOURCE, "--map-installation", "1"], 2, "isn't OLD=NEW"),
    ],
)
def test_a_mistake_is_explained_in_one_line(account: Account, arguments: list[str], code: int, problem: str) -> None:
    done = account.runledger("migrate", *arguments)
    assert (done.returncode, done.stdout) == (code, "")
    assert problem in done.stderr
    assert "Traceback" not in done.stderr


def test_outside_of_a_checkout_it_explains_where_to_run(tmp_path: Path) -> None:
    package = Path(__file__).parents[2] / "cli" / "runledger_cli"
    copied = tmp_path / "site" / "runledger_cli"
    copied.parent.mkdir()
    subprocess.run(["cp", "-r", package, copied], check=True)
    done = subprocess.run(
        [sys.executable, "-m", "runledger_cli", "migrate", SOURCE],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(copied.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("runledger: this command needs a checkout of Runledger")
