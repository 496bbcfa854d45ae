"""Sends a workload to a deployment whose DynamoDB fails in bursts, lets the queues drain, runs one pass, and checks."""

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from http.client import HTTPException
from typing import Any

from runledger.tables import schema

from local.aws import clients as aws
from local.aws.outputs import Outputs
from local.demo import passes
from local.github import webhooks
from local.github.control import Control
from tests.soak import proxy
from tests.soak.lives import INSTALLATION, Delivery, Workload
from tests.soak.proxy import Faults
from tests.support.beds import items

FUNCTIONS = ("webhook_intake", "webhook_retry", "scheduling_events", "runner_lookup", "run_retry")
QUEUES = ("WebhookRetries", "SchedulingEvents", "RunnerLookups", "RerunChecks")
THROUGH_PROXY = "AWS_ENDPOINT_URL_DYNAMODB"
SENDERS = 4
ACCEPTED, SERVER_ERROR = 202, 500
TRIES = 10
# On AWS a failed message is retried after six minutes.
RETRY_SECONDS = 10
DRAIN_SECONDS = 900
QUIET_CHECKS = 3
WAITING = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible", "ApproximateNumberOfMessagesDelayed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """`violations` must be empty. `sent` counts each delivery as often as it was sent until it was accepted."""

    sent: int
    deferred: int
    redelivered: int
    faults: int
    calls: int
    redriven: int
    healed: int
    violations: list[str]

    def lines(self) -> list[str]:
        return [
            f"{self.sent:,} deliveries, {self.redelivered:,} sent again after an error, {self.deferred:,} deferred",
            f"{self.faults:,} of {self.calls:,} DynamoDB calls failed; {self.redriven:,} dead letters redriven",
            f"{self.healed:,} jobs corrected by the reconciler; {len(self.violations):,} violations",
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    jobs: dict[str, dict[str, Any]]
    runs: dict[str, dict[str, Any]]
    history: list[dict[str, Any]]


def play(outputs: Outputs, workload: Workload, *, seed: int, progress: Callable[[str], None] = print) -> Result:
    faults = Faults(seed=seed)
    soak = Soak(outputs=outputs)
    with ExitStack() as stack:
        url = stack.enter_context(proxy.running(outputs.endpoint_url, faults))
        stack.enter_context(soak.short_retries())
        stack.enter_context(soak.through(url))
        progress(f"Sending {len(workload.sent):,} deliveries and events while DynamoDB fails in bursts")
        results, errors = soak.send(workload)
        faults.failing = False
        progress("Waiting until the queues are empty")
        redriven = soak.drain()
    for record in workload.records():
        Control(outputs.github_api_url).put(record)
    progress("Running one pass of the reconciler")
    finished = passes.invoke(outputs, "full")
    failed = sum(count for fault, count in faults.calls.items() if fault)
    return Result(
        sent=len(workload.deliveries),
        deferred=results["deferred"],
        redelivered=sum(errors.values()),
        faults=failed,
        calls=sum(faults.calls.values()),
        redriven=redriven,
        healed=finished.summary["jobs_healed"],
        violations=list(violations(workload, soak.stored(), errors)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Soak:
    outputs: Outputs

    def send(self, workload: Workload) -> tuple[Counter[str], Counter[str]]:
        """The results of intake, and by GUID how often a delivery had to be sent again."""
        results: Counter[str] = Counter()
        errors: Counter[str] = Counter()

        def one(each: Delivery | dict[str, Any]) -> None:
            if isinstance(each, Delivery):
                results[self._deliver(each, errors)] += 1
            else:
                self._publish(each)

        with ThreadPoolExecutor(max_workers=SENDERS) as pool:
            list(pool.map(one, workload.sent))
        return results, errors

    def drain(self) -> int:
        """The number of messages that had become dead letters and were moved back."""
        deadline = time.monotonic() + DRAIN_SECONDS
        redriven = quiet = 0
        with closing(self.client("sqs")) as sqs:
            urls = sqs.list_queues()["QueueUrls"]
            queues = [url for url in urls for name in QUEUES if f"{name}Queue" in url]
            dead_letters = [url for url in urls for name in QUEUES if f"{name}DeadLetters" in url]
            assert len(queues) == len(dead_letters) == len(QUEUES)
            while quiet < QUIET_CHECKS:
                assert time.monotonic() < deadline, {url: _waiting(sqs, url) for url in queues}
                for url in [url for url in dead_letters if (dead := _waiting(sqs, url))]:
                    redriven += dead
                    arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
                    sqs.start_message_move_task(SourceArn=arn)
                quiet = 0 if any(_waiting(sqs, url) for url in (*queues, *dead_letters)) else quiet + 1
                time.sleep(0.3)
        return redriven

    def stored(self) -> Stored:
        with closing(self.client("dynamodb")) as dynamodb:
            found = {name: items(dynamodb, physical) for name, physical in self.outputs.tables.items()}
        return Stored(
            jobs={each["PK"]: each for each in found[schema.WORKFLOW_JOBS.name]},
            runs={each["PK"]: each for each in found[schema.WORKFLOW_RUNS.name] if each["SK"] == schema.ONLY},
            history=found[schema.WORKFLOW_JOB_EVENTS.name],
        )

    @contextmanager
    def through(self, proxy_url: str) -> Iterator[None]:
        """The functions reach DynamoDB through the proxy, and directly again afterwards."""
        with closing(self.client("lambda")) as functions:
            names = [self.outputs.functions[each] for each in FUNCTIONS]
            before = {
                name: functions.get_function_configuration(FunctionName=name)["Environment"]["Variables"]
                for name in names
            }
            for name, variables in before.items():
                changed = variables | {THROUGH_PROXY: proxy_url}
                functions.update_function_configuration(FunctionName=name, Environment={"Variables": changed})
            try:
                yield
            finally:
                for name, variables in before.items():
                    functions.update_function_configuration(FunctionName=name, Environment={"Variables": variables})

    @contextmanager
    def short_retries(self) -> Iterator[None]:
        with closing(self.client("sqs")) as sqs:
            urls = [url for url in sqs.list_queues()["QueueUrls"] for name in QUEUES if f"{name}Queue" in url]
            name = "VisibilityTimeout"
            before = {
                url: sqs.get_queue_attributes(QueueUrl=url, AttributeNames=[name])["Attributes"][name] for url in urls
            }
            for url in urls:
                sqs.set_queue_attributes(QueueUrl=url, Attributes={name: str(RETRY_SECONDS)})
            try:
                yield
            finally:
                for url, seconds in before.items():
                    sqs.set_queue_attributes(QueueUrl=url, Attributes={name: seconds})

    def client(self, service: str) -> Any:
        return aws.client(self.outputs, service)

    def _deliver(self, delivery: Delivery, errors: Counter[str]) -> str:
        """Deliver until it is accepted. `tests/reconciler` tests what follows GitHub's timeouts."""
        secret = self.outputs.webhook_secret
        headers = webhooks.headers(delivery.event, delivery.body, secret, delivery_id=delivery.guid)
        for _ in range(TRIES):
            try:
                response = webhooks.post(self.outputs.webhook_url, delivery.body, headers)
            except (OSError, HTTPException):
                errors[delivery.guid] += 1
                continue
            if response.status == ACCEPTED:
                return str(json.loads(response.body)["result"])
            assert response.status >= SERVER_ERROR, response
            errors[delivery.guid] += 1
        raise AssertionError(f"{delivery.guid} was not accepted")

    def _publish(self, event: dict[str, Any]) -> None:
        with closing(self.client("events")) as bus:
            entry = {
                "Source": event["source"],
                "DetailType": event["detail-type"],
                "Detail": json.dumps(event["detail"]),
            }
            time_of = datetime.fromisoformat(event["time"])
            bus.put_events(Entries=[entry | {"EventBusName": self.outputs.event_bus, "Time": time_of}])


def _waiting(sqs: Any, url: str) -> int:
    found = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=WAITING)["Attributes"]
    return sum(int(count) for count in found.values())


def violations(workload: Workload, stored: Stored, errors: Counter[str]) -> Iterator[str]:
    """`errors` counts by GUID the deliveries that got no response: each of them may have been recorded."""
    for life in workload.lives:
        job = stored.jobs.get(life.key, {})
        for name, value in life.expected().items():
            if job.get(name) != value:
                yield f"job {life.key}: {name} is {job.get(name)!r} instead of {value!r}"
    sent = Counter((each.key, each.guid) for each in workload.deliveries if each.key)
    recorded = Counter((line["PK"], line["delivery_id"]) for line in stored.history)
    for delivery, times in sent.items():
        if not times <= recorded[delivery] <= times + errors[delivery[1]]:
            yield f"delivery {delivery}: {recorded[delivery]} history events instead of {times}"
    for run_id, lives in workload.runs.items():
        run = stored.runs.get(f"{INSTALLATION}#{run_id}#1", {})
        failed = sum(life.conclusion == "failure" for life in lives)
        expected = {
            "status": "completed",
            "total_jobs": len(lives),
            "completed_jobs": len(lives),
            "failed_jobs": failed,
        }
        if (counted := {name: run.get(name) for name in expected}) != expected:
            yield f"run {run_id}: {counted} instead of {expected}"
