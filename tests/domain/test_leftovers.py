"""Which events of a job's history were put and never saved."""

from dataclasses import replace

import pytest
from runledger.model.inputs import Event, EventType, Facts, Receipt, Source, Status
from runledger.model.job import INPUTS_KEPT, Job
from runledger.recording.decision import decide
from runledger.recording.leftovers import unsaved

from tests.support.webhooks import INSTALLATION, JOB

AT = "2025-01-15T10:04:00.000Z"
WARNING = Receipt(
    installation_id=INSTALLATION,
    job_id=JOB,
    delivery_id="i-1 runner_interrupted",
    received_at=AT,
    event_type=EventType.RUNNER_INTERRUPTED,
    source=Source.INTERNAL,
    facts=Facts(instance_id="i-1", interrupted_at=AT),
)


@pytest.fixture
def job() -> Job:
    opened = replace(WARNING, status=Status.SCHEDULED, facts=Facts())
    return replace(Job.opened_by(opened), instance_id="i-1", version=3)


def put(job: Job) -> Event:
    return decide(job, WARNING).event


def test_an_event_is_a_leftover_until_its_input_is_saved(job: Job) -> None:
    event = put(job)
    assert unsaved(job, [event]) == [event]
    assert unsaved(job.absorb(WARNING), [event]) == []


def test_an_input_that_is_news_again_is_saved_once_for_each_event(job: Job) -> None:
    saved = job.absorb(WARNING)
    returned = replace(saved, interrupted_at=None)
    events = [put(job), put(returned)]
    assert unsaved(returned, events) == events[1:]
    assert unsaved(returned.absorb(WARNING), events) == []


def test_a_job_that_may_have_forgotten_the_input_has_no_leftovers(job: Job) -> None:
    others = tuple(f"{number:014}" for number in range(INPUTS_KEPT))
    assert unsaved(replace(job, inputs=others), [put(job)]) == []
    assert unsaved(replace(job, inputs=others[1:]), [put(job)])
