"""The soak itself: what it sends, how its proxy fails, and that its checks find what they are there for."""

import http.client
from collections import Counter
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from urllib.parse import urlsplit

import pytest

from tests.soak import lives, proxy
from tests.soak.lives import INSTALLATION, Delivery
from tests.soak.proxy import Fault, Faults
from tests.soak.soak import Stored, violations

WORKLOAD = lives.workload(60, seed=1)
NO_ERRORS: Counter[str] = Counter()


def perfect() -> Stored:
    return Stored(
        jobs={life.key: life.expected() for life in WORKLOAD.lives},
        runs={
            f"{INSTALLATION}#{run_id}#1": {
                "status": "completed",
                "total_jobs": 3,
                "completed_jobs": 3,
                "failed_jobs": sum(life.conclusion == "failure" for life in of_run),
            }
            for run_id, of_run in WORKLOAD.runs.items()
        },
        history=[{"PK": each.key, "delivery_id": each.guid} for each in WORKLOAD.deliveries],
    )


def lose_job(stored: Stored) -> None:
    stored.jobs.popitem()


def wrong_cost(stored: Stored) -> None:
    stored.jobs[WORKLOAD.lives[0].key]["usage_in_dollars"] = 0


def lose_delivery(stored: Stored) -> None:
    stored.history[:] = [line for line in stored.history if line["delivery_id"] != f"queued {lives.FIRST_JOB}"]


def record_twice(stored: Stored) -> None:
    stored.history.append({"PK": WORKLOAD.lives[0].key, "delivery_id": f"queued {lives.FIRST_JOB}"})


def count_twice(stored: Stored) -> None:
    stored.runs[f"{INSTALLATION}#{lives.FIRST_RUN}#1"]["completed_jobs"] = 4


def test_a_correct_ledger_has_no_violation() -> None:
    assert list(violations(WORKLOAD, perfect(), NO_ERRORS)) == []


@pytest.mark.parametrize("plant", [lose_job, wrong_cost, lose_delivery, record_twice, count_twice])
def test_a_planted_difference_is_found(plant: Callable[[Stored], None]) -> None:
    stored = perfect()
    plant(stored)
    assert list(violations(WORKLOAD, stored, NO_ERRORS))


def test_a_delivery_without_a_response_may_have_been_recorded() -> None:
    stored = perfect()
    record_twice(stored)
    assert list(violations(WORKLOAD, stored, Counter({f"queued {lives.FIRST_JOB}": 1}))) == []


def test_the_workload_is_shuffled_with_a_tenth_doubled_and_some_lost() -> None:
    sent = [(each.event, each.guid) for each in WORKLOAD.deliveries]
    doubled = len(sent) - len(set(sent))
    assert doubled == round(len(set(sent)) * lives.DOUBLED)
    assert WORKLOAD.lost
    assert not {each.guid for each in WORKLOAD.lost} & {guid for _, guid in sent}
    assert sum(not isinstance(each, Delivery) for each in WORKLOAD.sent) == len(WORKLOAD.lives)
    first = [guid for event, guid in sent if event == "workflow_job"][:20]
    assert len({guid.split()[0] for guid in first}) == 3, "all steps from the beginning"
    assert lives.workload(60, seed=1).sent == WORKLOAD.sent
    assert lives.workload(60, seed=2).sent != WORKLOAD.sent


class Backend(BaseHTTPRequestHandler):
    received = 0

    def do_POST(self) -> None:
        Backend.received += 1
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_: object) -> None:
        pass


class Planned(Faults):
    """One fault, for every call."""

    fault: Fault | None = None

    def next(self) -> Fault | None:
        self.calls[self.fault] += 1
        return self.fault


EFFECTS = {None: (200, 1), Fault.THROTTLED: (400, 0), Fault.SERVER_ERROR: (500, 0)}
DROPPED = {Fault.REFUSED: 0, Fault.LOST_RESPONSE: 1}


@pytest.mark.parametrize("fault", [None, *Fault])
def test_a_fault_comes_before_or_after_the_effect(fault: Fault | None) -> None:
    server = HTTPServer(("127.0.0.1", 0), Backend)
    Thread(target=server.serve_forever, daemon=True).start()
    Backend.received = 0
    faults = Planned(seed=1)
    faults.fault = fault
    try:
        with proxy.running(f"http://127.0.0.1:{server.server_port}", faults) as url:
            connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=10)
            connection.request("POST", "/", body=b"{}")
            if fault in DROPPED:
                with pytest.raises(http.client.RemoteDisconnected):
                    connection.getresponse()
                assert Backend.received == DROPPED[fault]
            else:
                assert (connection.getresponse().status, Backend.received) == EFFECTS[fault]
            connection.close()
    finally:
        server.shutdown()
        server.server_close()


def test_faults_come_in_bursts_and_are_the_same_for_a_seed() -> None:
    plan = [Faults(seed=1), Faults(seed=1), Faults(seed=2)]
    first, same, other = ([each.next() for _ in range(500)] for each in plan)
    assert first == same != other
    assert all(first.count(fault) > 10 for fault in Fault)
    calm = Faults(seed=1, failing=False)
    assert {calm.next() for _ in range(500)} == {None}
