"""Webhooks from GitHub's schemas, mutated examples, and headers: each is recorded or rejected as a whole."""

import base64
import json
from collections.abc import Callable
from random import Random
from typing import Any

import jsonschema
from runledger.webhooks.readers.dispatcher import READERS

from local.github.examples import payloads
from tests.fuzz import schemas
from tests.fuzz.cases import Fuzz
from tests.fuzz.ledger import Bed
from tests.fuzz.values import anything, damaged, mutated, text
from tests.support import messages
from tests.support.webhooks import COMPLETED, JOB, QUEUED_AGAIN, http_event, sign
from tests.support.webhooks import payload as job_payload

EVENTS = sorted(READERS)
EXAMPLES = [(event, message) for event in EVENTS for message in payloads(event)]
EXAMPLES += [("workflow_job", job_payload(step)) for step in (QUEUED_AGAIN, COMPLETED)]
EXAMPLES += [messages.run("completed"), messages.review("approved"), messages.deployment_status("waiting", job_id=JOB)]
OTHERS = [message for _, message in EXAMPLES]
RECORDED = (200, 202)
Make = Callable[[Random], tuple[str, dict[str, Any]]]


def from_schema(random: Random) -> tuple[str, dict[str, Any]]:
    event = random.choice(EVENTS)
    return event, schemas.webhook(event, random)


def from_example(random: Random) -> tuple[str, dict[str, Any]]:
    event, message = random.choice(EXAMPLES)
    return event, mutated(random, message, OTHERS)


def deliver(bed: Bed, request: dict[str, Any]) -> int:
    before = bed.tables()
    response = bed.world.invoke("webhook_intake", request)
    bed.check_response(response, before, *RECORDED)
    return int(response["statusCode"])


def life(bed: Bed, make: Make) -> Callable[[Random], list[int]]:
    """Some deliveries, of which some are doubled, onto the filled ledger."""

    def play(random: Random) -> list[int]:
        bed.reset()
        sent = [make(random) for _ in range(random.randint(1, 4))]
        sent += random.sample(sent, k=random.randint(0, 1))
        statuses = []
        for number, (event, message) in enumerate(sent):
            guid, at = f"fuzz {number % 4}", 1_736_935_200_123 + random.randint(0, 10**6)
            request = http_event(json.dumps(message).encode(), event=event, guid=guid, at_epoch_ms=at)
            statuses.append(deliver(bed, request))
        bed.check()
        return statuses

    return play


def test_a_generated_webhook_matches_githubs_schema() -> None:
    # Formats aren't validated, so an empty text may match more than one of several alternatives.
    document = json.loads(schemas.GITHUBS.read_text().replace('"oneOf"', '"anyOf"'))
    for event in EVENTS:
        schema = document["definitions"][f"{event}_event"] | {"definitions": document["definitions"]}
        validator = jsonschema.Draft7Validator(schema)
        for number in range(5):
            validator.validate(schemas.webhook(event, Random(f"{event} {number}")))  # noqa: S311


def test_what_githubs_schemas_allow_is_recorded_or_rejected_as_a_whole(bed: Bed, fuzz: Fuzz) -> None:
    statuses: list[int] = []
    play = life(bed, from_schema)
    fuzz.play("schemas", lambda random: statuses.extend(play(random)), cases=250)
    assert fuzz.reproduces or statuses.count(202) > len(statuses) / 3


def test_a_mutated_example_is_recorded_or_rejected_as_a_whole(bed: Bed, fuzz: Fuzz) -> None:
    statuses: list[int] = []
    play = life(bed, from_example)
    fuzz.play("examples", lambda random: statuses.extend(play(random)), cases=250)
    assert fuzz.reproduces or {200, 202, 400} <= {*statuses}


def test_a_damaged_body_is_recorded_or_rejected_as_a_whole(bed: Bed, fuzz: Fuzz) -> None:
    def play(random: Random) -> None:
        bed.reset()
        event, message = random.choice(EXAMPLES)
        body = damaged(random, json.dumps(message).encode())
        request = http_event(body, event=event)
        deliver(bed, request | {"body": base64.b64encode(body).decode(), "isBase64Encoded": True})
        bed.check()

    fuzz.play("bodies", play, cases=150)


def test_headers_are_accepted_or_rejected_with_a_reason(bed: Bed, fuzz: Fuzz) -> None:
    """Without a correct signature nothing is read; with one, no other header breaks the function."""

    def play(random: Random) -> None:
        bed.reset()
        event, message = random.choice(EXAMPLES)
        body = json.dumps(message).encode()
        request = http_event(body, event=event)
        headers: dict[str, Any] = request["headers"]
        for name in random.sample([*headers, "x-github-enterprise-host", text(random, 10)], k=random.randint(1, 4)):
            match random.randrange(3):
                case 0:
                    headers.pop(name, None)
                case 1:
                    headers[name] = text(random, 200)
                case _:
                    headers[name] = headers.get(name, "") + random.choice([" ", ",", "\n", "0", headers.get(name, "")])
        is_signed = headers.get("x-hub-signature-256") == sign(body)
        before = bed.tables()
        status = deliver(bed, request)
        assert is_signed or status == 401
        assert is_signed or bed.tables() == before
        bed.check()

    fuzz.play("headers", play, cases=250)


def test_a_body_that_is_no_message_is_rejected(bed: Bed, fuzz: Fuzz) -> None:
    def play(random: Random) -> None:
        bed.reset()
        body = json.dumps(anything(random)).encode()
        assert deliver(bed, http_event(body, event=random.choice(EVENTS))) in (200, 400)
        bed.check()

    fuzz.play("anything", play, cases=100)
