"""A job's timeline is drawn from its history."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from runledger.model.inputs import EventType
from runledger_cli.rendering.history import event_line, history
from runledger_cli.rendering.job_details import job_details
from runledger_cli.rendering.jobs import jobs_table, queued_seconds, ran_seconds
from runledger_cli.rendering.style import Style
from runledger_cli.rendering.timeline import MARKS_OF_EVENTS, STEPS_OF_EVENTS, moments, timeline

from tests.cli.responses import EVENTS, event, job

STYLE = Style(now=datetime(2025, 1, 15, 11, tzinfo=UTC), zone=UTC)


def test_every_step_has_its_time_and_the_gap_before_it_and_what_went_wrong_is_marked() -> None:
    assert timeline(STYLE, job(), EVENTS) == [
        "  2025-01-15 10:00:00.000Z  ● created",
        "                            │ 1.2 s",
        "  2025-01-15 10:00:01.200Z  ● received",
        "                            │ 30 s",
        "  2025-01-15 10:00:31.200Z  ● scheduled",
        "                            │ 59 s",
        "  2025-01-15 10:01:30.000Z  ● attached",
        "                            │ 30 s",
        "  2025-01-15 10:02:00.000Z  ● started",
        "                            │ 8m 00s",
        "  2025-01-15 10:10:00.000Z  ! interrupted",
        "                            │ 2m 03s",
        "  2025-01-15 10:12:03.000Z  ● completed",
        "                            │ 2m 57s",
        "  2025-01-15 10:15:00.000Z  ! reconciled",
    ]


def test_a_job_that_is_not_over_is_still_counting() -> None:
    waiting = {"created_at": "2025-01-15T10:00:00.000Z", "status": "queued"}
    assert timeline(STYLE, waiting, []) == [
        "  2025-01-15 10:00:00.000Z  ● created",
        "                            │ 1h 00m until now, queued",
    ]


def test_an_interruption_is_shown_after_its_history_has_expired() -> None:
    assert any(line.endswith("! interrupted") for line in timeline(STYLE, job(), []))


def test_a_job_that_was_carried_over_completed_before_it_was_created() -> None:
    carried = {
        "created_at": "2025-01-15T10:00:00.000Z",
        "completed_at": "2025-01-15T09:00:00.000Z",
        "status": "completed",
    }
    assert [line.split()[-1] for line in timeline(STYLE, carried, [])] == ["completed", "00m", "created"]


def test_a_job_that_was_carried_over_has_no_queue_time_and_no_cost_of_its_own() -> None:
    carried = job(carried_over=True, completed_at="2025-01-15T09:00:00.000Z", usage_in_seconds=0, usage_in_dollars=0)
    del carried["overall_queue_duration_in_ms"], carried["was_interrupted"]
    assert (queued_seconds(STYLE, carried), ran_seconds(STYLE, carried)) == (None, None)
    facts = {line[:14].strip(): line[14:].strip() for line in job_details(STYLE, carried)[1:]}
    assert facts["status"] == "failure (carried over)"
    assert facts["carried over"] == "by a re-run: its times and its runner are those of the original job"
    assert facts["cost"] == "$0.00"
    assert [each.name for each in moments(carried, [])] == ["created", "received", "interrupted"]


def test_a_row_of_a_carried_over_job_has_neither_times_nor_the_runner_of_the_original() -> None:
    carried = job(carried_over=True, usage_in_seconds=0, usage_in_dollars=0, was_interrupted=False, job_name="build")
    head, row = jobs_table(STYLE, [carried])
    shown = {title: row[head.index(title) :].split("  ")[0] for title in ("STATUS", "RUNNER")}
    assert shown == {"STATUS": "failure (carried over)", "RUNNER": "-"}
    assert row.split()[-4:] == ["-", "-", "$0.00", "-"]


def test_an_approval_stands_at_its_own_time_and_is_no_queue_time() -> None:
    approved = job(
        approval_requested_at="2025-01-15T10:00:10.000Z",
        approved_at="2025-01-15T10:01:40.000Z",
        environment="production",
    )
    del approved["overall_queue_duration_in_ms"]
    late = [event("deployment_approved", "2025-01-15T11:00:00.000Z")]
    steps = [line.split("● ")[1] for line in timeline(STYLE, approved, late) if "●" in line]
    assert steps[2:5] == ["approval requested", "scheduled", "approved"]
    assert "  approval     approved 2025-01-15 10:01:40Z, after 1m 30s" in job_details(STYLE, approved)
    running = {**approved, "status": "in_progress"}
    assert queued_seconds(STYLE, running) == 30
    assert queued_seconds(STYLE, {**running, "approved_at": None}) is None


def test_only_events_that_the_ledger_writes_are_drawn() -> None:
    assert {*MARKS_OF_EVENTS, *STEPS_OF_EVENTS} <= set(EventType)


def test_history_shows_every_change_of_every_event() -> None:
    assert history(STYLE, EVENTS[:4]) == [
        "  2025-01-15 10:00:01.200Z  webhook_queued",
        "      status: queued",
        "  2025-01-15 10:00:05.000Z  webhook_queued (duplicate)",
        "  2025-01-15 10:01:30.000Z  runner_attached",
        "  2025-01-15 10:02:01.000Z  webhook_in_progress",
        "      started_at: 2025-01-15 10:02:00.000Z",
        "      status: scheduled → in_progress",
    ]


def test_a_field_that_was_taken_back_is_shown_as_such() -> None:
    taken = event("runner_taken", "2025-01-15T10:00:00.000Z", changes={"instance_id": {"from": "i-0abc"}})
    assert event_line(STYLE, taken).endswith("runner_taken  instance_id: i-0abc → -")


def test_a_cost_is_shown_or_marked_as_unknown() -> None:
    running = {"installation_id": 42, "job_id": 1, "status": "in_progress", "started_at": "2025-01-15T10:55:00.000Z"}
    assert job_details(STYLE, running)[-1] == "  cost         5m 00s, price unknown"
    assert job_details(STYLE, running | {"price_per_hour": 0.0357})[-1] == "  cost         5m 00s, $0.0357 an hour"


def test_a_job_that_never_ran_has_no_cost_and_no_time() -> None:
    cancelled = {"status": "completed", "conclusion": "cancelled", "usage_in_seconds": 0}
    assert ran_seconds(STYLE, cancelled) is None


def test_times_are_in_the_zone_of_the_reader() -> None:
    berlin = Style(now=STYLE.now, zone=ZoneInfo("Europe/Berlin"))
    assert berlin.time("2025-01-15T10:00:00.000Z") == "2025-01-15 11:00:00"
