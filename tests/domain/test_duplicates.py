"""What a job remembers of its inputs, and what follows when an input comes again."""

from dataclasses import replace

from runledger.model.inputs import EventType, Facts, Receipt, Source, Status
from runledger.model.job import INPUTS_KEPT, Job
from runledger.recording.decision import WEBHOOKS_AT_MOST, Decision, Outcome, decide

from tests.support.runner_events import INSTANCE
from tests.support.webhooks import COMPLETED, IN_PROGRESS, INSTALLATION, JOB, LIFE, QUEUED, WAITING, receipt


def play(job: Job | None, *receipts: Receipt) -> Decision:
    """What the last of them leads to."""
    assert receipts
    for each in receipts:
        decision = decide(job, each)
        job = decision.job
    return decision


def replayed(step: str, *, at: int) -> Receipt:
    """The same body under a delivery id of the sender's choice."""
    return receipt(step, at=at, guid=f"replay at {at}")


def by_hook(step: str, number: int, *, at: int = 0) -> Receipt:
    """Another hook sends another body."""
    return receipt(step, at=at, guid=f"{step} of hook {number}", check_run_url=f"of hook {number}")


def internal(event_type: EventType, *, at: str, status: Status | None = None, **more: object) -> Receipt:
    facts = {name: more.pop(name) for name in tuple(more) if name in vars(Facts())}
    return Receipt(
        installation_id=INSTALLATION,
        job_id=JOB,
        delivery_id=f"{event_type} {at} {facts}",
        received_at=at,
        event_type=event_type,
        source=Source.INTERNAL,
        status=status,
        facts=Facts(**facts),  # type: ignore[arg-type]
        **more,  # type: ignore[arg-type]
    )


def noise(number: int) -> Receipt:
    return internal(EventType.RERUN_REFUSED, at=f"2025-01-15T11:{number // 60:02}:{number % 60:02}.000Z")


def test_a_replayed_body_is_a_duplicate_whatever_its_delivery_id() -> None:
    life = [receipt(step, at=second) for second, step in enumerate(LIFE)]
    for until in range(1, len(life) + 1):
        job = play(None, *life[:until]).job
        for step in LIFE[:until]:
            again = decide(job, replayed(step, at=900))
            if step == QUEUED and job.status is Status.QUEUED and job.waiting_reported_at is None:
                assert again.outcome is Outcome.DUPLICATE
                assert again.job == replace(job, queued_reported_at=again.event.timestamp, version=job.version + 1)
            elif (step, job.status) != (QUEUED, Status.WAITING):
                assert (again.outcome, again.job) == (Outcome.DUPLICATE, job)


def test_the_second_queued_of_an_approval_may_have_the_body_of_the_first() -> None:
    waiting = play(None, receipt(QUEUED), receipt(WAITING, at=1)).job
    approved = decide(waiting, receipt(QUEUED, at=2, guid="the second queued"))
    assert (approved.outcome, approved.job.status) == (Outcome.RECORDED, Status.QUEUED)
    assert decide(approved.job, receipt(QUEUED, at=2, guid="the second queued")).outcome is Outcome.REPEATED
    assert decide(approved.job, receipt(QUEUED, at=9, guid="the second queued")).outcome is Outcome.DUPLICATE


def test_a_redelivery_of_the_first_queued_does_not_end_the_waiting() -> None:
    waiting = play(None, receipt(QUEUED), receipt(WAITING, at=1)).job
    again = decide(waiting, receipt(QUEUED, at=2))
    assert (again.outcome, again.job.status) == (Outcome.DUPLICATE, Status.WAITING)


def test_a_replay_can_end_the_waiting_once_and_never_bring_it_back() -> None:
    """The body can't be distinguished from that of a real approval."""
    job = play(None, receipt(QUEUED), receipt(WAITING, at=1)).job
    outcomes = []
    for second in range(2, 62, 2):
        for step in (QUEUED, WAITING):
            decision = decide(job, replayed(step, at=second))
            outcomes.append(decision.outcome)
            job = decision.job
    assert job.status is Status.QUEUED
    assert outcomes.count(Outcome.RECORDED) == 1


def test_the_same_event_from_several_hooks_is_several_inputs() -> None:
    decisions, job = [], None
    for number in range(3):
        decisions.append(decide(job, by_hook(IN_PROGRESS, number)))
        job = decisions[-1].job
    assert [each.outcome for each in decisions] == [Outcome.RECORDED] * 3


def test_our_own_retry_is_recognised_by_body_delivery_and_time() -> None:
    first = receipt(QUEUED)
    job = decide(None, first).job
    assert decide(job, first).outcome is Outcome.REPEATED
    for other in (receipt(QUEUED, at=1), receipt(QUEUED, guid="another")):
        assert decide(job, other).outcome is Outcome.DUPLICATE


def test_replays_of_the_first_queued_do_not_fill_the_memory() -> None:
    job = play(None, receipt(QUEUED), *(replayed(QUEUED, at=second) for second in range(1, 2 * WEBHOOKS_AT_MOST))).job
    assert len(job.webhooks) == 1
    assert decide(job, receipt(WAITING, at=900)).job.status is Status.WAITING


def test_a_delivery_id_alone_makes_no_duplicate() -> None:
    """It isn't signed: an attacker who has it must not be able to keep another body out."""
    job = decide(None, receipt(QUEUED, guid="known")).job
    assert decide(job, receipt(COMPLETED, guid="known")).outcome is Outcome.RECORDED


def test_no_number_of_internal_inputs_makes_a_job_forget_a_webhook() -> None:
    job = play(None, receipt(QUEUED), receipt(WAITING, at=1), *map(noise, range(3 * INPUTS_KEPT))).job
    assert len(job.inputs) == INPUTS_KEPT
    again = decide(job, replayed(WAITING, at=900))
    assert again.outcome is Outcome.DUPLICATE


def full(*first: Receipt) -> Job:
    return play(None, *first, *(by_hook(QUEUED, n) for n in range(WEBHOOKS_AT_MOST - len(first)))).job


def test_when_the_memory_is_full_unknown_bodies_change_nothing_but_progress() -> None:
    job = full()
    for step in (QUEUED, WAITING):
        unknown = decide(job, by_hook(step, 1000, at=900))
        assert (unknown.outcome, unknown.job) == (Outcome.DUPLICATE, job)


def test_when_the_memory_is_full_a_job_still_starts_and_completes_and_our_retries_are_recognised() -> None:
    job = full()
    for step, status in ((IN_PROGRESS, Status.IN_PROGRESS), (COMPLETED, Status.COMPLETED)):
        received = receipt(step, at=900)
        decision = decide(job, received)
        job = decision.job
        assert (decision.outcome, job.status) == (Outcome.RECORDED, status)
        assert decide(job, received).outcome is Outcome.REPEATED
        assert decide(job, by_hook(step, 1000, at=901)).outcome is Outcome.DUPLICATE
    assert len(job.webhooks) == WEBHOOKS_AT_MOST + 2


def test_a_forgotten_scheduling_that_is_repeated_neither_moves_the_job_nor_assigns_its_runner() -> None:
    scheduled = internal(
        EventType.RUNNER_SCHEDULED,
        at="2025-01-15T10:01:00.000Z",
        status=Status.SCHEDULED,
        instance_id="i-old",
        scheduled_at="2025-01-15T10:01:00.000Z",
    )
    gone = internal(EventType.RUNNER_TAKEN, at="2025-01-15T10:02:00.000Z", releases="i-old")
    job = play(None, receipt(QUEUED), scheduled, gone, *map(noise, range(INPUTS_KEPT))).job
    assert not any(token.startswith(scheduled.short_id) for token in job.inputs)
    repeated = decide(job, scheduled)
    assert (repeated.job.status, repeated.job.instance_id) == (Status.QUEUED, None)


def test_a_repeated_runner_taken_event_does_not_undo_a_later_plan() -> None:
    gone = internal(EventType.RUNNER_TAKEN, at="2025-01-15T10:01:00.000Z", releases="i-1")
    scheduled = internal(
        EventType.RUNNER_SCHEDULED,
        at="2025-01-15T10:02:00.000Z",
        status=Status.SCHEDULED,
        instance_id="i-1",
        scheduled_at="2025-01-15T10:02:00.000Z",
    )
    job = play(None, receipt(QUEUED), gone, scheduled, *map(noise, range(INPUTS_KEPT))).job
    assert decide(job, gone).job.status is Status.SCHEDULED


def test_a_late_internal_input_still_adds_what_is_not_known() -> None:
    scheduled = internal(
        EventType.RUNNER_SCHEDULED,
        at="2025-01-15T10:01:00.000Z",
        status=Status.SCHEDULED,
        instance_id=INSTANCE,
        scheduled_at="2025-01-15T10:01:00.000Z",
    )
    running = play(None, receipt(QUEUED), scheduled, receipt(IN_PROGRESS, at=1), *map(noise, range(INPUTS_KEPT))).job
    late = internal(
        EventType.RUNNER_INTERRUPTED,
        at="2025-01-15T10:05:00.000Z",
        instance_id=INSTANCE,
        interrupted_at="2025-01-15T10:05:00.000Z",
    )
    assert decide(running, late).job.was_interrupted is True


def test_a_receipt_that_an_earlier_version_put_on_the_retry_queue_is_known_by_its_id() -> None:
    before = replace(receipt(QUEUED), body_digest=None)
    job = decide(None, before).job
    assert decide(job, before).outcome is Outcome.REPEATED
    assert decide(job, replace(before, received_at="2025-01-15T10:09:00.000Z")).outcome is Outcome.DUPLICATE
