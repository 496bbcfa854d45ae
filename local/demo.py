"""Plays the demo workload: it happens on the simulated GitHub, which sends its webhooks to a local deployment."""

from __future__ import annotations

from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import TYPE_CHECKING

from local import summary
from local.control import Control
from local.github_records import records
from local.lives import lives
from local.payloads.subjects import Job
from local.processes import LocalError

if TYPE_CHECKING:
    from datetime import datetime

    from local.outputs import Outputs
    from local.payloads.subjects import Delivery, Subject

_AT_ONCE = 4
# GitHub gives up after 10 seconds; a first call here may also have to start the function on a busy machine.
_PATIENCE_SECONDS = 30


def send(outputs: Outputs, *, now: datetime, seed: int = 1) -> list[Delivery]:
    """Let everything happen, deliver it in order for each job and run, and show what the ledger made of it."""
    happened = lives(now, seed)
    sent = [each for each in happened if not each.lost]
    by_subject: dict[Subject, list[Delivery]] = defaultdict(list)
    for each in sent:
        by_subject[each.subject].append(each)
    jobs = sum(isinstance(subject, Job) for subject in by_subject)
    print(f"Playing the lives of {jobs} jobs on the simulated GitHub: {len(sent)} deliveries")
    github = Control(outputs.github_api_url)
    github.configure(
        webhook_url=outputs.webhook_url, webhook_secret=outputs.webhook_secret, give_up_seconds=_PATIENCE_SECONDS
    )
    for record in records(happened):
        github.put(record)
    _deliver(github, list(by_subject.values()))
    print("The ledger now holds")
    for line in summary.lines(outputs, sent, now):
        print(f"  {line}")
    return sent


def _deliver(github: Control, in_order: list[list[Delivery]]) -> None:
    done, total = 0, sum(len(life) for life in in_order)
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        for life in as_completed([threads.submit(_send_life, github, life) for life in in_order]):
            before, done = done, done + life.result()
            if done // 50 > before // 50:
                print(f"  {done} of {total} deliveries")


def _send_life(github: Control, life: list[Delivery]) -> int:
    for each in life:
        row = github.send(each.event, each.payload, each.delivery_id)
        if row["status_code"] != 202:
            raise LocalError(f"delivery {each.delivery_id} was answered with {row['status_code']}: {row['status']}")
    return len(life)
