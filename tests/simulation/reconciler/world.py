"""A deployment and its surroundings in memory, in virtual time: things happen when they are due, also during a pass."""

import heapq
import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any

from runledger.model import times
from runledger.model.errors import Rejection
from runledger.model.passes import PassKind
from runledger.recording import follow_up_queue
from runledger.runners import aws_events
from runledger.runners.lookups import MachineLookups
from runledger.webhooks.delivery import Delivery as Received

from local.github.records import Delivery
from tests.simulation.calls import Client, Fault, Killed, Step, disturbed
from tests.simulation.choices import Choices, seeded
from tests.simulation.clock import TEN_O_CLOCK, Clock
from tests.simulation.engine import Engine
from tests.simulation.reconciler.github import GitHub, Response
from tests.simulation.reconciler.machines import EC2, ECS, Machine
from tests.simulation.reconciler.passes import Context, Pass
from tests.simulation.reconciler.production import LAMBDA_SECONDS, Handler, Receiving, start_reconciler
from tests.simulation.reconciler.troubles import AWS_FAULTS, MINUTE, Troubles, response_of
from tests.simulation.scheduler import Limits, Scheduler
from tests.simulation.services import Bus, Functions, Queues, Secrets
from tests.support.settings import SETTINGS
from tests.support.webhooks import SECRET, sign

AWS_SECONDS, GITHUB_SECONDS = 0.01, 0.15
MOST_CALLS = 60_000  # more than fit into the time of a Lambda function
LOOKUPS = SETTINGS["RUNNER_LOOKUPS_QUEUE"]
APP = {"app_id": 1001, "private_key": "-----BEGIN nothing-----"}
START = TEN_O_CLOCK
READS = ("get_item", "query", "batch_get_item", "describe_instances", "list_tasks", "get_secret_value")


class RequestBus(Bus):
    """Launchers follow it: `requested` is called with the job of each request."""

    def __init__(self) -> None:
        super().__init__()
        self.requested: Callable[[int], None] = lambda _: None

    def put_events(self, *, Entries: list[Mapping[str, Any]]) -> dict[str, Any]:  # noqa: N803
        for entry in Entries:
            self.requested(json.loads(entry["Detail"])["job_id"])
        return super().put_events(Entries=Entries)


class World:
    def __init__(self, troubles: Troubles, *, github_seconds: float = GITHUB_SECONDS) -> None:
        self.troubles = troubles
        self.dice = seeded(troubles.name)
        self.clock = Clock(START)
        self.github_seconds = github_seconds
        self.engine, self.queues, self.bus, self.functions = Engine(), Queues(), RequestBus(), Functions()
        self.ec2 = EC2(self.clock, self._stopping)
        self.github = GitHub(self.clock, self._receive, self._redeliver)
        secrets = {
            SETTINGS["WEBHOOK_SECRETS"]: json.dumps({"current": SECRET}),
            SETTINGS["GITHUB_APP"]: json.dumps(APP),
        }
        self._services: dict[str, Any] = {
            "dynamodb": self.engine,
            "sqs": self.queues,
            "events": self.bus,
            "lambda": self.functions,
            "secretsmanager": Secrets(secrets),
            "ec2": self.ec2,
            "ecs": ECS(),
        }
        self.scheduler = Scheduler(self.clock, Choices(), Limits())
        self.stops: list[tuple[float, Machine]] = []
        self.judge_stop: Callable[[Machine], list[str]] = lambda _: []
        self.judge_line: Callable[[Mapping[str, float], Mapping[str, Any]], None] = lambda *_: None
        self.wrong: list[str] = []
        self.story: list[str] = []
        self.passes: list[Pass] = []
        self.calls = 0
        self._agenda: list[tuple[float, int, str, Callable[[], object]]] = []
        self._numbers = 0
        self._under_way: dict[str, Pass] = {}
        self._happening = False
        self._warm: list[Handler] = []
        self._receiving: Receiving | None = None

    # What the functions are wired to

    def client(self, service: str) -> Any:
        return Client(service, self._services[service], self._call)

    def now(self) -> float:
        return self.clock.now()

    def sleep(self, seconds: float) -> None:
        self.scheduler.sleep(seconds)

    def emitted(self, metrics: Mapping[str, float], about: Mapping[str, Any]) -> None:
        self.judge_line(metrics, about)

    def call_github(self, method: str, target: str, headers: Mapping[str, str], timeout: float) -> Response:
        call = f"{method} {target}"
        respond = partial(self._respond, method, target, headers, timeout)
        response: Response = self._through("github", call, {}, respond)
        return response

    def _respond(self, method: str, target: str, headers: Mapping[str, str], timeout: float) -> Response:
        call = f"{method} {target.partition('?')[0]}"
        kind = self.troubles.of_call(call, self.now())
        self.tell(f"{self._name}: {call}" + (f" [{kind}]" if kind else ""))
        if kind is None:
            return self.github.respond(method, target, headers)
        self._under_way[self._name].disturbed = True
        if kind in ("timeout", "response lost"):
            self.clock.advance(timeout)
        if kind == "response lost":
            self.github.respond(method, target, headers)
        return response_of(kind, now=self.now(), silent_at=self.troubles.silent_at)

    def _call(self, service: str, operation: str, arguments: Mapping[str, Any], effect: Callable[[], Any]) -> Any:
        if self.scheduler.current is None or self._happening:
            return effect()
        return self._through(service, operation, arguments, effect)

    def _through(self, service: str, operation: str, arguments: Mapping[str, Any], effect: Callable[[], Any]) -> Any:
        disturbed_effect = partial(self._disturbed, service, operation, arguments, effect)
        return self.scheduler.call(service, operation, arguments, disturbed_effect)

    def _disturbed(self, service: str, operation: str, arguments: Mapping[str, Any], effect: Callable[[], Any]) -> Any:
        """Time passes with each call, and meanwhile other things happen."""
        one = self._under_way[self._name]
        one.calls += 1
        self.calls += 1
        self.clock.advance(self.github_seconds if service == "github" else AWS_SECONDS)
        self._let_happen()
        if self.now() > one.deadline:
            self.wrong.append(f"{one.name} was still at work when Lambda ended it")
            raise Killed
        fault = self._fault(one, service)
        if service != "github" and (fault or operation not in READS):
            step = Step(one.name, one.calls, service, operation, arguments)
            self.tell(f"{step}" + (f" [{fault.value}]" if fault else ""))
        elif fault:
            self.tell(f"{one.name}: {fault.value}")
        return disturbed(Step(one.name, one.calls, service, operation, arguments), fault, effect)

    def _fault(self, one: Pass, service: str) -> Fault | None:
        if one.calls == one.dies_at:
            one.disturbed = True
            return self.dice.choice((Fault.KILLED_BEFORE, Fault.KILLED_AFTER))
        if service == "github" or self.now() >= self.troubles.silent_at or self.dice.random() >= self.troubles.aws:
            return None
        one.disturbed = True
        return self.dice.choice(AWS_FAULTS)

    @property
    def _name(self) -> str:
        return self.scheduler.current or ""

    # What happens in it

    def at(self, moment: float, name: str, action: Callable[[], object]) -> None:
        self._numbers += 1
        heapq.heappush(self._agenda, (moment, self._numbers, name, action))

    def after(self, seconds: float, name: str, action: Callable[[], object]) -> None:
        self.at(self.now() + seconds, name, action)

    def tell(self, line: str) -> None:
        self.story.append(f"{times.from_epoch_ms(round(self.now() * 1000))[5:23]} {line}")

    def play(self, until: float) -> None:
        while self._agenda and self._agenda[0][0] <= until:
            self.clock.seconds = max(self.clock.seconds, self._agenda[0][0])
            self._let_happen()
        self.clock.seconds = max(self.clock.seconds, until)

    def _let_happen(self) -> None:
        """Runs what is due. Passes don't start within another one: those that overlap start together."""
        if self._happening:
            return
        waiting = []
        while self._agenda and self._agenda[0][0] <= self.now():
            entry = heapq.heappop(self._agenda)
            _, _, name, action = entry
            if name.startswith("pass"):
                if self._under_way:
                    waiting.append(entry)
                else:
                    action()
                continue
            self._happening = True
            try:
                if name:
                    self.tell(name)
                action()
            finally:
                self._happening = False
        for entry in waiting:
            heapq.heappush(self._agenda, entry)

    def reconcile(self, *kinds: PassKind) -> list[Pass]:
        """One pass, or several at the same time, each in a process of its own."""
        started = [self._begin(kind) for kind in kinds]
        self._under_way = {each.name: each for each in started}
        overlap = Limits(preemptions=self.dice.randint(0, 20) if len(started) > 1 else 0)
        self.scheduler = Scheduler(self.clock, Choices(dice=self.dice), overlap, most_calls=MOST_CALLS)
        results = self.scheduler.run({each.name: partial(self._run, each) for each in started})
        self._under_way = {}
        for each in started:
            result = results[each.name]
            if result.error:
                self.tell(f"{each.name} failed: {result.error!r}")
                if not each.disturbed:
                    self.wrong.append(f"{each.name} failed: {result.error!r}")
            elif each.result:
                self.tell(f"{each.name} ended: {each.result['outcome']}\n" + "\n".join(each.findings))
                if each.result["outcome"] == "errors" and self.now() > self.troubles.silent_at + MINUTE:
                    self.wrong.append(f"{each.name} had errors: {'; '.join(each.findings)}")
        return started

    def _begin(self, kind: PassKind) -> Pass:
        name = f"pass {len(self.passes) + 1} ({kind})"
        dies = self.now() < self.troubles.silent_at and self.dice.random() < self.troubles.killed
        one = Pass(name, kind, self.now() + LAMBDA_SECONDS, self.dice.randint(1, 90) if dies else None)
        self.passes.append(one)
        return one

    def _run(self, one: Pass) -> None:
        """Run it in a warm process, or in a new one."""
        handler = self._warm.pop() if self._warm and self.dice.random() < 0.9 else start_reconciler()
        event = {"pass": str(one.kind), "id": f"{len(self.passes):06}-{one.name}"}
        one.result = handler(event, Context(one, self.now))
        self._warm.append(handler)

    # What reaches the deployment

    @property
    def receiving(self) -> Receiving:
        if self._receiving is None:
            self._receiving = Receiving.start()
        return self._receiving

    def _receive(self, delivery: Delivery) -> bool:
        if self.troubles.is_down(self.now()):
            self.tell(f"intake is down: {delivery.event} {delivery.guid} fails")
            return False
        received = Received(
            event=delivery.event, delivery_id=delivery.guid, body=delivery.body, received_at=self.clock.text()
        )
        self.receiving.intake.receive(received, sign(delivery.body))
        if self.queues.messages.get(LOOKUPS):
            self.after(self.dice.choice((1, 5, 200)), "", self._look_up)
        return True

    def deliver(self, event: str, payload: Mapping[str, Any], guid: str) -> None:
        """A webhook that arrives."""
        self.github.deliveries.deliver(event, json.dumps(payload).encode(), guid)

    def _redeliver(self, delivery: Delivery) -> None:
        """GitHub accepts the request at once and sends later."""
        send = partial(self.github.deliveries.deliver, delivery.event, delivery.body, delivery.guid, redelivery=True)
        self.after(self.dice.uniform(1, 20), f"GitHub redelivers {delivery.guid}", send)

    def _look_up(self) -> None:
        for message in self.queues.take(LOOKUPS):
            receiving = self.receiving
            MachineLookups(
                tracker=receiving.runners, find_machine=receiving.describe, find_price=receiving.find_price
            ).look_up(follow_up_queue.lookup_from(message))

    def launcher_event(self, event: Mapping[str, Any]) -> None:
        try:
            self.receiving.launcher_events.record(event)
        except Rejection as rejection:
            self.tell(f"the launcher's event is rejected: {rejection}")

    def ec2_event(self, machine: Machine, state: str) -> None:
        detail = {"instance-id": machine.id, "state": state}
        at = datetime.fromtimestamp(self.now(), UTC).isoformat().replace("+00:00", "Z")
        place = {"account": SETTINGS["OWN_ACCOUNT"], "region": SETTINGS["AWS_REGION"]}
        event = {"detail-type": "EC2 Instance State-change Notification", "time": at, "detail": detail, **place}
        aws_events.record(event, self.receiving.runners)

    def _stopping(self, machine: Machine) -> None:
        self.tell(f"{machine.id} is stopped")
        self.wrong += self.judge_stop(machine)
        self.stops.append((self.now(), machine))
