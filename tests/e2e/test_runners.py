"""Events on the buses lead to jobs, histories and one re-run."""

import json
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import boto3
import pytest

from local.aws.outputs import Outputs
from local.github import webhooks as github_webhooks
from tests.e2e.tables import history, job
from tests.e2e.test_webhooks import post
from tests.support import messages, runner_events
from tests.support.polling import eventually
from tests.support.webhooks import COMPLETED, IN_PROGRESS, INSTALLATION, QUEUED, REPO, payload

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

RUN = 3_000_001


def put_event(outputs: Outputs, event: dict[str, Any], *, bus: str = "default") -> None:
    client = boto3.client("events", endpoint_url=outputs.endpoint_url, region_name=outputs.region)
    entry: Any = {
        "EventBusName": bus,
        "Source": event["source"],
        "DetailType": event["detail-type"],
        "Detail": json.dumps(event["detail"]),
        "Time": event["time"],
    }
    assert client.put_events(Entries=[entry])["FailedEntryCount"] == 0
    client.close()


def simulate(outputs: Outputs, method: str, path: str, body: object = None) -> Any:
    request = urllib.request.Request(
        f"{outputs.github_api_url}/_simulation/{path}",
        method=method,
        data=json.dumps(body).encode() if body is not None else None,
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=10) as response:
        text = response.read()
    return json.loads(text) if text else None


def reruns_requested(outputs: Outputs) -> int:
    calls = simulate(outputs, "GET", "calls")
    return sum(sum(counts.values()) for route, counts in calls.items() if "rerun-failed-jobs" in route)


def log_of(outputs: Outputs, function: str) -> str:
    """Metrics are lines of the log, from which CloudWatch makes them."""
    logs = boto3.client("logs", endpoint_url=outputs.endpoint_url, region_name=outputs.region)
    groups = [group["logGroupName"] for group in logs.describe_log_groups()["logGroups"]]
    events = [
        event["message"]
        for group in groups
        if function in group
        for event in logs.filter_log_events(logGroupName=group)["events"]
    ]
    logs.close()
    return "\n".join(events)


def test_a_spot_interruption_reaches_its_job_and_reruns_it_once(outputs: Outputs, dynamodb: "DynamoDBClient") -> None:
    job_id, runner_id = 3_000_100, "i-0e2e0000000000001"
    key = f"{INSTALLATION}#{job_id}"
    assert post(outputs, payload(QUEUED, job_id=job_id), guid=f"queued {job_id}").status == 202
    scheduled = runner_events.launcher("runner_scheduled", job_id=job_id, runner_id=runner_id)
    put_event(outputs, scheduled, bus=outputs.event_bus)
    assert eventually(lambda: (job(dynamodb, outputs, key) or {}).get("instance_id")) == runner_id
    started = payload(IN_PROGRESS, job_id=job_id, runner_name=f"runner-{runner_id}")
    assert post(outputs, started, guid=f"started {job_id}").status == 202
    put_event(outputs, runner_events.interruption(runner_id=runner_id))
    assert eventually(lambda: (job(dynamodb, outputs, key) or {}).get("was_interrupted")) is True
    eventually(lambda: "RunnersInterrupted" in log_of(outputs, "spot_interruption"))
    put_event(outputs, runner_events.instance_state("terminated", runner_id=runner_id, minute=7))
    wanted = {"runner_scheduled", "runner_interrupted", "runner_terminated"}
    eventually(lambda: wanted <= {line["event_type"] for line in history(dynamodb, outputs, key)})


@pytest.fixture
def interrupted_run(outputs: Outputs) -> list[int]:
    """A run of three jobs on the simulated GitHub, all of them lost with their instances."""
    jobs = [3_000_201, 3_000_202, 3_000_203]
    simulate(outputs, "PUT", f"installations/{INSTALLATION}", {"account": REPO.partition("/")[0]})
    simulate(outputs, "PUT", f"runs/{RUN}", {"repository": REPO, "status": "completed", "conclusion": "failure"})
    for job_id in jobs:
        simulate(outputs, "PUT", f"jobs/{job_id}", {"run_id": RUN, "status": "completed", "conclusion": "failure"})
    return jobs


def test_three_interrupted_jobs_of_a_run_are_run_again_by_one_call(
    outputs: Outputs, dynamodb: "DynamoDBClient", interrupted_run: list[int]
) -> None:
    runner_name = "a-name-that-leads-nowhere"
    for number, job_id in enumerate(interrupted_run):
        runner_id = f"i-0e2e000000000001{number}"
        started = payload(IN_PROGRESS, job_id=job_id, run_id=RUN, runner_name=runner_name)
        assert post(outputs, started, guid=f"started {job_id}").status == 202
        scheduled = runner_events.launcher("runner_scheduled", job_id=job_id, runner_id=runner_id, run_id=RUN)
        put_event(outputs, scheduled, bus=outputs.event_bus)
        put_event(outputs, runner_events.interruption(runner_id=runner_id))

    def interrupted() -> bool:
        found = [job(dynamodb, outputs, f"{INSTALLATION}#{job_id}") or {} for job_id in interrupted_run]
        return all(each.get("was_interrupted") for each in found)

    eventually(interrupted)
    before = reruns_requested(outputs)
    _, run = messages.run("completed", run_id=RUN)
    run["workflow_run"]["conclusion"] = "failure"
    # The emulated bus dates events by its own clock, so the jobs must end after that.
    end = {"completed_at": (datetime.now(UTC) + timedelta(minutes=5)).isoformat(), "conclusion": "failure"}
    ended = [
        payload(COMPLETED, job_id=job_id, run_id=RUN, runner_name=runner_name, **end) for job_id in interrupted_run
    ]
    completions = [*((message, "workflow_job") for message in ended), (run, "workflow_run")]

    def deliver(completion: tuple[dict[str, Any], str]) -> int:
        message, event = completion
        body = json.dumps(message).encode()
        return github_webhooks.deliver(outputs.webhook_url, outputs.webhook_secret, event, body).status

    with ThreadPoolExecutor(max_workers=4) as pool:
        assert set(pool.map(deliver, [*completions, *completions])) == {202}

    def rerun_is_recorded() -> bool:
        lines = [history(dynamodb, outputs, f"{INSTALLATION}#{job_id}") for job_id in interrupted_run]
        return all(any(line["event_type"] == "rerun_requested" for line in each) for each in lines)

    eventually(rerun_is_recorded)
    assert reruns_requested(outputs) == before + 1


def test_a_poisoned_event_becomes_a_dead_letter_and_its_neighbours_are_recorded(
    outputs: Outputs, dynamodb: "DynamoDBClient"
) -> None:
    job_id, runner_id = 3_000_300, "i-0e2e0000000000030"
    sqs = boto3.client("sqs", endpoint_url=outputs.endpoint_url, region_name=outputs.region)
    urls = sqs.list_queues()["QueueUrls"]
    (waiting,) = [url for url in urls if "SchedulingEventsQueue" in url]
    (dead,) = [url for url in urls if "SchedulingEventsDeadLetters" in url]
    # The pause between tries is minutes long, and five tries would outlast the patience of any test.
    sqs.set_queue_attributes(QueueUrl=waiting, Attributes={"VisibilityTimeout": "1"})
    poison = runner_events.launcher("runner_scheduled", job_id=job_id, runner_id=runner_id, version=99)
    good = runner_events.launcher("runner_scheduled", job_id=job_id, runner_id=runner_id)
    for event in (poison, good):
        put_event(outputs, event, bus=outputs.event_bus)
    eventually(lambda: job(dynamodb, outputs, f"{INSTALLATION}#{job_id}"))
    letters = eventually(lambda: sqs.receive_message(QueueUrl=dead).get("Messages"))
    sqs.close()
    assert [json.loads(letter["Body"])["detail"]["version"] for letter in letters] == [99]
