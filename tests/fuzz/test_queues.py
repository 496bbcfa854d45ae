"""Events on the bus and messages of the queues: each is recorded, or rejected with a reason and without a write."""

import json
from random import Random
from typing import Any

import jsonschema
from runledger.model.follow_ups import RerunCheck, RunnerLookup
from runledger.model.instance import RunnerKind
from runledger.recording import follow_up_queue
from runledger.webhooks import retry_queue
from runledger.webhooks.readers import dispatcher

from tests.fuzz.cases import Fuzz
from tests.fuzz.ledger import OTHER_JOB, Bed
from tests.fuzz.values import anything, damaged, mutated
from tests.support import messages, runner_events
from tests.support.documents import DOCS
from tests.support.runner_events import INSTANCE
from tests.support.webhooks import INSTALLATION, JOB, LIFE, REPO, RUN, delivery, payload

AWS = [
    *(runner_events.instance_state(state) for state in ("pending", "running", "stopping", "stopped", "terminated")),
    *(runner_events.task_state(state) for state in ("RUNNING", "STOPPED")),
    runner_events.task_state(
        "STOPPED", stopCode="SpotInterruption", stoppedReason="x", stoppingAt="2025-01-15T10:01:00Z"
    ),
    *(runner_events.interruption(), runner_events.rebalance()),
]
LAUNCHER = [
    runner_events.launcher(kind, job_id=job, minute=minute)
    for kind in ("runner_scheduled", "runner_rescheduled", "runner_attached", "runner_terminated")
    for job in (JOB, OTHER_JOB)
    for minute in (1, 9)
]
SCHEMA = json.loads((DOCS / "scheduling-event.v1.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def entries() -> list[dict[str, Any]]:
    """Messages of each kind that waits in a queue, as another function has written them."""
    sent = [("workflow_job", payload(step)) for step in LIFE]
    sent += [messages.run("completed"), messages.deployment(), messages.deployment_status("waiting", job_id=JOB)]
    sent += [messages.review("requested"), messages.review("approved"), messages.installation("suspend")]
    found = [each for event, message in sent for each in dispatcher.read(delivery(message, guid="g", event=event))]
    return [json.loads(retry_queue.to_message(each)) for each in found]


RETRIES = entries()
LOOKUPS = [
    json.loads(
        follow_up_queue.to_message(
            RunnerLookup(
                installation_id=INSTALLATION,
                job_id=JOB,
                runner_id=INSTANCE if kind is RunnerKind.EC2 else "0a" * 16,
                kind=kind,
                repo_full_name=REPO,
                at="2025-01-15T10:03:00.000Z",
                started_at="2025-01-15T10:02:30.000Z",
            )
        )
    )
    for kind in RunnerKind
]
RERUNS = [
    json.loads(
        follow_up_queue.to_message(
            RerunCheck(installation_id=INSTALLATION, repo_full_name=REPO, run_id=RUN, run_attempt=1)
        )
    )
]
QUEUES = {
    "scheduling_events": LAUNCHER,
    "instance_state": AWS,
    "spot_interruption": AWS,
    "webhook_retry": RETRIES,
    "runner_lookup": LOOKUPS,
    "run_retry": RERUNS,
}


def send(bed: Bed, function: str, body: str) -> bool:
    """Whether the function processed the message. A message that it returns has changed nothing."""
    before = bed.tables()
    failed = bed.world.invoke(function, runner_events.batch(body))["batchItemFailures"]
    if failed:
        assert failed == [{"itemIdentifier": "m0"}]
        assert bed.tables() == before
    return not failed


def test_a_message_of_a_queue_is_processed_or_rejected_with_a_reason(bed: Bed, fuzz: Fuzz) -> None:
    results = []

    def play(random: Random) -> None:
        bed.reset()
        for _ in range(random.randint(1, 3)):
            function = random.choice(sorted(QUEUES))
            message = mutated(random, random.choice(QUEUES[function]), QUEUES[function])
            body = json.dumps(message if random.random() < 0.9 else anything(random))
            if random.random() < 0.1:
                body = damaged(random, body.encode()).decode("utf-8", "replace")
            results.append(send(bed, function, body))
        bed.check()

    fuzz.play("queues", play, cases=250)
    assert fuzz.reproduces or {*results} == {True, False}


def test_a_detail_that_the_published_schema_rejects_is_rejected(bed: Bed, fuzz: Fuzz) -> None:
    """The schema in docs/ is what launchers validate against, so nothing that it forbids may be recorded."""

    def play(random: Random) -> None:
        bed.reset()
        event = random.choice(LAUNCHER)
        event = {**event, "detail": mutated(random, event["detail"], [each["detail"] for each in LAUNCHER])}
        processed = send(bed, "scheduling_events", json.dumps(event))
        assert VALIDATOR.is_valid(event["detail"]) or not processed or _is_lenient(event["detail"]), event["detail"]
        bed.check()

    fuzz.play("details", play, cases=250)


def _is_lenient(detail: dict[str, Any]) -> bool:
    """Optional values that are invalid are omitted, not rejected: only those that identify something must be valid."""
    required = {name: detail[name] for name in ("version", "installation_id", "kind", "runner_id") if name in detail}
    return VALIDATOR.is_valid(required)
