"""The whole deployment and its surroundings: every input is an invocation of its function, among others under way.

Invocations interleave at their calls, fail at any of them, and die. SQS delivers again what failed, GitHub keeps a log
of its deliveries, and Lambda runs what the API requests.
"""

import heapq
import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from runledger.model import times
from runledger.model.errors import UnavailableError
from runledger.tables import schema
from runledger.webhooks.retry_queue import LEGACY_ENTRY_FIELD

from local.github.records import Delivery
from tests.simulation.calls import CRASHES, Fault, Killed
from tests.simulation.choices import Choices
from tests.simulation.reconciler.github import Response
from tests.simulation.reconciler.machines import Machine, Pricing
from tests.simulation.reconciler.passes import Context
from tests.simulation.reconciler.production import LAMBDA_SECONDS, Handler, start_function
from tests.simulation.reconciler.world import MOST_CALLS, World
from tests.simulation.scheduler import Limits, Scheduler
from tests.simulation.services import Secrets
from tests.simulation.system.ecs import Tasks
from tests.simulation.system.invocations import Invocation, InvokedFunctions, Message, ObservedStorage, SentQueues
from tests.simulation.system.people import API_TOKENS
from tests.simulation.system.plan import Plan
from tests.support.settings import SETTINGS
from tests.support.webhooks import http_event

VISIBLE_AGAIN_SECONDS = 360.0
TRIES = 5
GIVES_UP_SECONDS = 10  # GitHub, on a delivery
RERUN = "/rerun-failed-jobs"


class SystemWorld(World):
    def __init__(self, plan: Plan) -> None:
        super().__init__(plan.troubles)
        self.plan = plan
        self.counts: Counter[str] = Counter()
        self.storage = ObservedStorage(schema.TABLES)
        self.engine.storage = self.storage
        self.ecs = Tasks(self.clock, self._stopping)
        secrets = self._services["secretsmanager"]
        self._services |= {
            "sqs": SentQueues(self._sent),
            "lambda": InvokedFunctions(self._invoked),
            "ecs": self.ecs,
            "pricing": Pricing(),
            "secretsmanager": Secrets({**secrets._secrets, SETTINGS["API_TOKENS"]: json.dumps(API_TOKENS)}),
        }
        self.github.deliveries.deliver = self._deliver  # type: ignore[method-assign]
        self.finished: Callable[[Invocation], None] = lambda _: None
        self.accepted: Callable[[str, bytes, str, str], None] = lambda *_: None
        self.rerun: Callable[[int], None] = lambda _: None
        self.stopped: Callable[[Machine], None] = lambda _: None
        self.dead_letters: list[str] = []
        self.hides = False  # GitHub has responded that something doesn't exist
        self.faults = 0
        self.disturbed: list[str] = []
        self.invocations = 0
        self._names: Counter[str] = Counter()
        self._pool: dict[str, list[Handler]] = {}
        self._waiting: dict[str, Callable[[], None]] = {}
        self._is_running = False

    @property
    def machines(self) -> dict[str, Machine]:
        return self.ec2.machines | self.ecs.machines

    # Invocations

    def invoke(
        self,
        function: str,
        event: dict[str, Any],
        *,
        about: str,
        done: Callable[[Invocation], None] = lambda _: None,
    ) -> None:
        name = f"{function} of {about}"
        self._names[name] += 1
        if self._names[name] > 1:
            name = f"{name}, try {self._names[name]}"
        faults = self.plan.faults(function, name) if self.now() < self.plan.silent_at else {}
        one = Invocation(name, function, event, self.now() + LAMBDA_SECONDS, done, faults)
        self.invocations += 1
        self._under_way[name] = one  # type: ignore[assignment]
        flow = partial(self._run_function, one)
        if self._is_running:
            self.scheduler.add(name, flow)
        else:
            self._waiting[name] = flow

    def _run_function(self, one: Invocation) -> None:
        one.started = self.now()
        one.deadline = one.started + LAMBDA_SECONDS
        pool = self._pool.setdefault(one.function, [])
        try:
            handler = pool.pop() if pool and self.dice.random() < 0.9 else start_function(one.function)
            one.result = handler(one.event, Context(one, self.now))  # type: ignore[arg-type]
            pool.append(handler)
        except Killed:
            one.killed = True
        except Exception as error:
            one.errors.append(error)
        self._outside(self._end, one)

    def _end(self, one: Invocation) -> None:
        if one.failed:
            self.tell(f"{one.name} fails: {'killed' if one.killed else one.errors[-1]!r}")
        unexpected = [each for each in one.errors if not isinstance(each, UnavailableError)]
        if unexpected and not one.disturbed:
            self.wrong.append(f"{one.name} failed although nothing disturbed it: {unexpected[0]!r}")
        if one.function == "reconciler" and one.result:
            self._judge_pass(one)
        one.done(one)
        self.finished(one)

    def _judge_pass(self, one: Invocation) -> None:
        self.counts["passes"] += 1
        findings = [line for line in one.result["text"].splitlines() if line.startswith("  ")]
        self.tell("\n".join((f"{one.name} ends: {one.result['outcome']}", *findings)))
        if one.result["outcome"] == "errors" and one.started > self.plan.silent_at + 60:
            self.wrong.append(f"{one.name} had errors: {'; '.join(findings)}")

    def _outside(self, action: Callable[..., object], *arguments: Any) -> None:
        """Its calls aren't those of an invocation."""
        before, self._happening = self._happening, True
        try:
            action(*arguments)
        finally:
            self._happening = before

    def exception_logged(self, error: BaseException) -> None:
        if not self._happening and (one := self._under_way.get(self._name)):
            one.errors.append(error)  # type: ignore[attr-defined]

    def message_rejected(self) -> None:
        if one := self._under_way.get(self._name):
            one.rejected = True  # type: ignore[attr-defined]

    def _fault(self, one: Any, service: str) -> Fault | None:
        fault: Fault | None = one.faults.pop(one.calls, None)
        if fault is None:
            return None
        if service == "github" and fault not in CRASHES:
            one.faults[one.calls + 1] = fault
            return None
        one.disturbed = True
        self.faults += 1
        self.disturbed.append(one.name)
        self.counts[f"fault: {fault.value}"] += 1
        return fault

    def _respond(self, method: str, target: str, headers: Mapping[str, str], timeout: float) -> Response:
        run_id = int(target.split("/")[-2]) if method == "POST" and target.endswith(RERUN) else None
        before = self.github.state.runs[run_id].run_attempt if run_id in self.github.state.runs else None
        try:
            response = super()._respond(method, target, headers, timeout)
            self.hides = self.hides or response.status == 404
            return response
        finally:
            if before is not None and run_id is not None and self.github.state.runs[run_id].run_attempt > before:
                self._outside(self.rerun, run_id)

    def _stopping(self, machine: Machine) -> None:
        self.counts["machines stopped"] += 1
        self._outside(super()._stopping, machine)
        self._outside(self.stopped, machine)

    # Time

    def play(self, until: float) -> None:
        while self._agenda and self._agenda[0][0] <= until:
            self.clock.seconds = max(self.clock.seconds, self._agenda[0][0])
            self._let_happen()
            while self._waiting:
                self._run_waiting()
        self.clock.seconds = max(self.clock.seconds, until)

    def _let_happen(self) -> None:
        if self._happening:
            return
        while self._agenda and self._agenda[0][0] <= self.now():
            _, _, name, action = heapq.heappop(self._agenda)
            if name:
                self.tell(name)
            self._outside(action)

    def _run_waiting(self) -> None:
        flows, self._waiting = self._waiting, {}
        limits = Limits(preemptions=self.dice.choice((0, 10, 40, 200)))
        self.scheduler = Scheduler(self.clock, Choices(dice=self.dice), limits, most_calls=MOST_CALLS)
        self._is_running = True
        results = self.scheduler.run(flows)
        self._is_running = False
        self._under_way = {}
        for name, result in results.items():
            if result.error:
                raise RuntimeError(f"{name}: the simulation failed") from result.error

    # Queues, Lambda, GitHub's deliveries

    def _sent(self, function: str, body: str) -> None:
        self.send(function, json.loads(body), about=_subject(function, json.loads(body)), delay=1.0)

    def send(self, function: str, body: Mapping[str, Any], *, about: str, delay: float) -> None:
        """A message that SQS delivers at least once."""
        message = Message(function, json.dumps(body), about, sent_at=round(self.now() * 1000))
        self.after(delay, "", partial(self._receive_message, message))

    def _receive_message(self, message: Message) -> None:
        attributes = {"ApproximateReceiveCount": str(message.receives), "SentTimestamp": str(message.sent_at)}
        record = {"messageId": f"message about {message.about}", "body": message.body, "attributes": attributes}
        event = {"Records": [record | {"eventSource": "aws:sqs", "messageAttributes": {}}]}
        self.invoke(message.function, event, about=message.about, done=partial(self._message_ended, message))

    def _message_ended(self, message: Message, one: Invocation) -> None:
        if one.rejected:
            self.tell(f"{one.name} is rejected")
            self.counts["rejected messages"] += 1
            return
        failed = bool(one.killed or one.result is None or one.result["batchItemFailures"])
        if not failed:
            is_doubled = self.now() < self.plan.silent_at and self.dice.random() < self.troubles.doubled / 4
            if not is_doubled:
                return
            self.counts["messages delivered twice"] += 1
        tries = message.tries + int(failed and not one.disturbed)
        if tries >= TRIES:
            self.dead_letters.append(message.about)
            self.counts["dead letters"] += 1
            self.tell(f"dead letter: {one.name}")
            return
        again = replace(message, receives=message.receives + 1, tries=tries)
        self.after(VISIBLE_AGAIN_SECONDS if failed else 2.0, "", partial(self._receive_message, again))

    def _invoked(self, payload: bytes) -> None:
        event = json.loads(payload)
        run = partial(self.invoke, "reconciler", event, about=f"request {event['id']}")
        self.after(1, "", run)
        if self.now() < self.plan.silent_at and self.dice.random() < 0.1:
            self.counts["asynchronous invocations doubled"] += 1
            self.after(2, "", run)

    def _deliver(self, event: str, body: bytes, guid: str, *, redelivery: bool = False) -> None:
        at = round(self.now() * 1000)
        if self.troubles.is_down(self.now()):
            self.tell(f"intake is down: {event} {guid} fails")
            self.counts["deliveries while intake is down"] += 1
            self.log_attempt(event, body, guid, delivered=False, redelivery=redelivery)
            return
        request = http_event(body, guid=guid, event=event, at_epoch_ms=at)
        about = f"{event} {guid}"

        def ended(one: Invocation) -> None:
            status = one.result["statusCode"] if one.result else 502
            result = json.loads(one.result["body"]).get("result") if one.result else None
            if status < 300 and result is not None:
                self.counts[f"deliveries {result}"] += 1
                self.accepted(event, body, guid, times.from_epoch_ms(at))
            delivered = status < 300 and self.now() - one.started <= GIVES_UP_SECONDS
            self.log_attempt(event, body, guid, delivered=delivered, redelivery=redelivery)

        self.invoke("webhook_intake", request, about=about, done=ended)

    def log_attempt(self, event: str, body: bytes, guid: str, *, delivered: bool, redelivery: bool = False) -> None:
        """Add an attempt to the App's log. Deliveries of an organisation's own hook aren't in it."""
        if b'"installation": {' in body:
            self.github.deliveries.log_attempt(event, body, guid, delivered=delivered, redelivery=redelivery)

    def _redeliver(self, delivery: Delivery) -> None:
        self.counts["redeliveries"] += 1
        super()._redeliver(delivery)

    def launcher_event(self, event: Mapping[str, Any]) -> None:
        self.event("scheduling_events", event, about=f"{event['detail-type']} {event['id']}")

    def event(self, function: str, event: Mapping[str, Any], *, about: str) -> None:
        """An event of EventBridge, which may be late or delivered twice."""
        delay = self.dice.choice((1, 1, 3, 60, 900))
        self.send(function, event, about=about, delay=delay)
        if self.now() < self.plan.silent_at and self.dice.random() < self.troubles.doubled:
            self.counts["events doubled"] += 1
            self.send(function, event, about=about, delay=delay + self.dice.uniform(0, 30))


def _subject(function: str, body: Mapping[str, Any]) -> str:
    if function == "webhook_retry":
        entry = body[LEGACY_ENTRY_FIELD]
        return str(entry.get("delivery_id") or f"{body['kind']} of {entry['installation_id']}")
    return f"job {body['job_id']}" if "job_id" in body else f"run {body['run_id']}"
