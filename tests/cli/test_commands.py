"""Each command sends the right request to the API, and shows the response."""

import json

import pytest

from tests.cli import responses
from tests.cli.canned_api import CannedApi, Request
from tests.cli.conftest import Cli
from tests.cli.responses import EVENTS, INSTALLATION, JOB, ORPHAN, PAGE, PASS, RUN

JOBS = f"installations/{INSTALLATION}/jobs"
EVENTS_OF_JOB = f"{JOBS}/{JOB}/events"


def test_jobs_are_a_table_without_tabs_or_colours_in_a_pipe(api: CannedApi, cli: Cli) -> None:
    api.respond(f"GET {JOBS}", {"items": [responses.job()], "next_cursor": None})
    shown = cli("jobs", "--status", "completed", "--since", "24h", "--utc").stdout
    assert shown == (
        "        JOB  STATUS                 REPOSITORY  NAME           "
        "CREATED               QUEUED      RAN      COST  RUNNER\n"
        "41234567890  failure (interrupted)  acme/api    CI / 🚀 build  "
        "2025-01-15 10:00:00Z  2m 00s  10m 03s  $0.00598  i-0abc\n"
    )
    assert api.requests[-1] == Request(method="GET", path=f"/v1/{JOBS}", query={"status": "completed", "since": "24h"})


def test_one_page_of_jobs_explains_how_to_see_more(api: CannedApi, cli: Cli) -> None:
    api.respond(f"GET {JOBS}", {"items": [responses.job()], "next_cursor": "next"})
    assert "--cursor next" in cli("jobs", "--repo", "acme/api", "--limit", "1").stderr


def test_all_follows_the_cursors_and_gives_one_document(api: CannedApi, cli: Cli) -> None:
    first, second = responses.job(), responses.job(job_id=2)
    api.respond(f"GET {JOBS}", {"items": [first], "next_cursor": "next"}, {"items": [second], "next_cursor": None})
    shown = cli("jobs", "--repo", "acme/api", "--all", "--json")
    assert json.loads(shown.stdout) == {"items": [first, second], "next_cursor": None}
    assert [each.query.get("cursor") for each in api.requests[-2:]] == [None, "next"]
    assert {each.query["repo"] for each in api.requests[-2:]} == {"acme/api"}


def test_a_time_without_a_zone_is_in_the_zone_that_is_shown(api: CannedApi, cli: Cli) -> None:
    api.respond(f"GET {JOBS}", {"items": [], "next_cursor": None})
    cli("jobs", "--status", "queued", "--since", "2025-01-15T19:00", "--until", "2025-01-15T12:00+01:00")
    assert api.requests[-1].query["since"] == "2025-01-15T10:00:00.000Z"
    assert api.requests[-1].query["until"] == "2025-01-15T11:00:00.000Z"
    cli("jobs", "--status", "queued", "--since", "2025-01-15T10:00", "--utc")
    assert api.requests[-1].query["since"] == "2025-01-15T10:00:00.000Z"


def test_a_job_shows_its_timeline_its_runner_and_its_cost(api: CannedApi, cli: Cli) -> None:
    api.respond(f"GET {JOBS}/{JOB}", responses.job())
    api.respond(f"GET {EVENTS_OF_JOB}", {"items": EVENTS, "next_cursor": None})
    shown = cli("job", str(JOB)).stdout
    assert "  workflow     8123456\n" in shown
    assert "  interrupted  yes\n" in shown
    assert "  instance     i-0abc, spot c7i.large, pool linux-x64\n" in shown
    assert "  cost         $0.00598 for 10m 03s, $0.0357 an hour, $0.009 saved by spot\n" in shown
    assert "  2025-01-15 19:10:00.000  ! interrupted\n" in shown
    assert "      status: scheduled → in_progress\n" in shown


def test_a_job_is_found_by_its_page_on_github(api: CannedApi, cli: Cli) -> None:
    found = {"installation_id": INSTALLATION, "job_id": JOB, "run_id": RUN, "job": responses.job()}
    api.respond("GET jobs/lookup", found)
    api.respond(
        f"GET {EVENTS_OF_JOB}", {"items": EVENTS[:1], "next_cursor": "2"}, {"items": EVENTS[1:], "next_cursor": None}
    )
    shown = json.loads(cli("job", PAGE, "--json").stdout)
    assert shown == {"job": responses.job(), "events": {"items": EVENTS, "next_cursor": None}}
    assert api.requests[0].query == {"url": PAGE}


def test_the_page_of_a_run_is_no_job(api: CannedApi, cli: Cli) -> None:
    api.respond(
        "GET jobs/lookup", {"installation_id": INSTALLATION, "run_id": RUN, "run": responses.RUN_RESPONSE["run"]}
    )
    refused = cli("job", f"https://github.com/acme/api/actions/runs/{RUN}")
    assert (refused.returncode, refused.stderr.count("\n")) == (1, 1)
    assert "`runledger run`" in refused.stderr


@pytest.mark.parametrize("wanted", [str(RUN), f"https://github.com/acme/api/actions/runs/{RUN}/attempts/2"])
def test_a_run_is_shown_with_its_jobs(api: CannedApi, cli: Cli, wanted: str) -> None:
    api.respond("GET jobs/lookup", {"installation_id": INSTALLATION, "run_id": RUN, "run_attempt": 2})
    api.respond(f"GET installations/{INSTALLATION}/runs/{RUN}", responses.RUN_RESPONSE)
    shown = cli("run", wanted).stdout
    assert f"  run         {RUN}, attempt 2 (others: 1)\n" in shown
    assert "  jobs        3: 3 completed, 1 failed\n" in shown
    assert f"{JOB}  failure (interrupted)" in shown


def test_the_jobs_of_a_run_are_counted_without_those_that_it_carried_over(api: CannedApi, cli: Cli) -> None:
    copies = [responses.job(job_id=each, carried_over=True, was_interrupted=False) for each in (1, 2)]
    found = responses.RUN_RESPONSE | {"jobs": [responses.job(), copies[0] | {"conclusion": "success"}, copies[1]]}
    found |= {"run": responses.RUN_RESPONSE["run"] | {"failed_jobs": 2}}
    api.respond(f"GET installations/{INSTALLATION}/runs/{RUN}", found)
    assert "  jobs        1: 1 completed, 1 failed (2 more carried over)\n" in cli("run", str(RUN)).stdout


def test_a_run_that_only_github_has_is_found_by_its_repository(api: CannedApi, cli: Cli) -> None:
    api.respond(f"GET installations/{INSTALLATION}/runs/{RUN}", responses.RUN_RESPONSE)
    assert cli("run", str(RUN), "--repo", "acme/api").returncode == 0
    assert api.requests[-1].query == {"repo": "acme/api"}


def test_statistics_are_facts_with_units(api: CannedApi, cli: Cli) -> None:
    api.respond(f"GET installations/{INSTALLATION}/statistics", responses.STATISTICS)
    assert cli("stats", "--repo", "acme/api", "--series", "--utc").stdout == (
        "acme/api  2025-01-14 10:00:00Z to 2025-01-15 10:00:00Z\n"
        "  jobs created   1,234\n"
        "  by status      1,200 completed, 34 in_progress\n"
        "  by conclusion  1,100 success, 100 failure\n"
        "  success rate   91.7 % (1,100 of 1,200 jobs that succeeded or failed)\n"
        "  queued         p50 12 s  p90 1m 03s  p99 1h 02m  max 1d 03h  (1,200 that ran)\n"
        "  spend          $1,234.50 for 1d 10h, 1d 07h unpriced\n"
        "  spot           61.0 % of the jobs whose machine is known\n"
        "  saved by spot  $700.25\n"
        "  interruptions  3\n"
        "\n"
        "SLOWEST               P90  JOBS\n"
        "acme/api CI / e2e  1h 02m    40\n"
        "\n"
        "MOST EXPENSIVE   SPEND  JOBS\n"
        "Nightly         $99.50     7\n"
        "\n"
        "FROM                  CREATED  COMPLETED  SUCCEEDED  FAILED  QUEUED P50  QUEUED P90  RAN P50  RAN P90  SPEND\n"
        "2025-01-14 10:00:00Z       50         49         46       2        12 s      1m 00s   4m 00s  10m 00s  $4.20\n"
    )
    assert api.requests[-1].query == {"repo": "acme/api"}


def test_pools_are_listed_with_their_runners_and_spend(api: CannedApi, cli: Cli) -> None:
    api.respond(f"GET installations/{INSTALLATION}/pools", responses.POOLS)
    shown = cli("pools", "--since", "2025-01-01")
    assert shown.stdout == (
        "POOL   INSTANCES   JOBS  ACTIVE  BUSY  UTILISATION    SPOT  SPEND\n"
        "small  c7g.large  1,200       4     3       75.0 %  61.0 %  $12.50 for 1d 10h, 2h 00m unpriced\n"
        "spare  -              0       0     0            -       -  $0.00 for 0 ms\n"
    )
    assert "only the newest are counted" in shown.stderr
    assert api.requests[-1].query == {"since": "2024-12-31T15:00:00.000Z"}


def test_repositories_are_listed_with_their_jobs(api: CannedApi, cli: Cli) -> None:
    found = {"items": [{"repo_full_name": "acme/api", "jobs": 1_234}], "next_cursor": None, "truncated": False}
    api.respond(f"GET installations/{INSTALLATION}/repositories", found)
    shown = cli("repositories", "--since", "7d")
    assert (shown.stdout, shown.stderr) == ("REPOSITORY   JOBS\nacme/api    1,234\n", "")
    assert api.requests[-1].query == {"since": "7d"}


def test_stuck_jobs_come_with_advice(api: CannedApi, cli: Cli) -> None:
    api.respond(f"GET installations/{INSTALLATION}/stuck", responses.STUCK)
    (_, row) = cli("stuck").stdout.splitlines()
    assert row.startswith(f"{JOB}  queued    1h 06m  acme/api")
    assert row.endswith("no runner has been scheduled: ask the launcher")


def test_orphans_are_listed(api: CannedApi, cli: Cli) -> None:
    api.respond("GET admin/orphans", responses.ORPHANS)
    (_, row) = cli("orphans", "--utc").stdout.splitlines()
    assert row.startswith(f"{ORPHAN}  ecs   active  2025-01-15 10:15:00Z  2025-01-15 10:25:00Z  linux-x64")
    assert row.endswith("its job is completed")


def test_runners_in_another_status_are_listed_on_request(api: CannedApi, cli: Cli) -> None:
    api.respond("GET admin/orphans", {"orphans": [], "total": 0})
    shown = cli("orphans", "--status", "unknown_job")
    assert api.requests[-1].query == {"status": "unknown_job"}
    assert shown.stderr == "no runner works on a job that isn't in the ledger\n"


def test_an_orphan_is_listed_with_its_run_job_status_and_machine(api: CannedApi, cli: Cli) -> None:
    api.respond("GET admin/orphans", responses.ORPHANS)
    (_, row) = cli("orphans", "--utc").stdout.splitlines()
    assert f"{RUN}  success     running" in row


def test_an_orphan_is_cleaned_by_its_job_or_run(api: CannedApi, cli: Cli) -> None:
    api.respond(f"POST admin/orphans/{JOB}/cleanup", {"id": PASS})
    assert cli("orphans", "clean", str(JOB), "--yes").stdout == f"requested: {PASS}\n"


def test_the_result_of_a_cleanup_is_a_sentence(api: CannedApi, cli: Cli) -> None:
    result = "Not cleaned: GitHub reports this runner as busy"
    finished = {"id": PASS, "status": "finished", "text": "Reconciliation (cleanup)\nErrors: 0", "result": result}
    api.respond(f"POST admin/orphans/{JOB}/cleanup", {"id": PASS})
    api.respond(f"GET admin/reconciliation/{PASS}", finished)
    assert cli("orphans", "clean", str(JOB), "--yes", "--wait").stdout == f"{result}\n"


def test_counts_of_zero_are_hidden_in_the_result_of_a_pass(api: CannedApi, cli: Cli) -> None:
    text = "Reconciliation (full)\nStuck jobs: 0\nJobs corrected: 10\nDuration: 0.0s\n  runner i-1: attempts: 0"
    api.respond("POST admin/reconciliation/run", {"id": PASS})
    api.respond(f"GET admin/reconciliation/{PASS}", {"id": PASS, "status": "finished", "text": text})
    shown = cli("reconcile", "--wait").stdout.splitlines()
    assert shown == ["Reconciliation (full)", "Jobs corrected: 10", "Duration: 0.0s", "  runner i-1: attempts: 0"]


def test_an_orphan_is_cleaned_by_its_whole_id(api: CannedApi, cli: Cli) -> None:
    path = "admin/orphans/arn%3Aaws%3Aecs%3Aeu-west-1%3A123456789012%3Atask%2Frunners%2F0123abcd/cleanup"
    api.respond(f"POST {path}", {"id": PASS})
    assert cli("orphans", "clean", ORPHAN, "--yes").stdout == f"requested: {PASS}\n"
    assert api.requests[-1].path == f"/{path}"


def test_nothing_is_cleaned_when_no_confirmation_is_possible(api: CannedApi, cli: Cli) -> None:
    refused = cli("orphans", "clean", ORPHAN)
    assert (refused.returncode, api.requests) == (2, [])
    assert "--yes" in refused.stderr


def test_a_pass_is_requested_and_waited_for(api: CannedApi, cli: Cli) -> None:
    api.respond("POST admin/reconciliation/run", {"id": PASS})
    api.respond(
        f"GET admin/reconciliation/{PASS}",
        {"id": PASS, "status": "finished", "text": "2 jobs corrected\n1 orphan cleaned"},
    )
    assert cli("reconcile", "--quick", "--wait").stdout == "2 jobs corrected\n1 orphan cleaned\n"
    assert api.requests[0].body == {"pass": "quick"}


def test_a_pass_that_failed_is_a_failure(api: CannedApi, cli: Cli) -> None:
    api.respond("POST admin/reconciliation/run", {"id": PASS})
    api.respond(f"GET admin/reconciliation/{PASS}", {"id": PASS, "status": "failed", "text": "GitHub was away"})
    failed = cli("reconcile", "--wait")
    assert (failed.returncode, failed.stdout) == (1, "GitHub was away\n")
    assert api.requests[0].body == {"pass": "full"}


def test_a_pass_with_errors_is_a_failure(api: CannedApi, cli: Cli) -> None:
    api.respond("POST admin/reconciliation/run", {"id": PASS})
    result = {"id": PASS, "status": "finished", "outcome": "errors", "text": "Errors: 1"}
    api.respond(f"GET admin/reconciliation/{PASS}", result)
    assert cli("reconcile", "--wait").returncode == 1


def test_a_pass_that_ran_out_of_time_is_continued_by_the_next_and_no_failure(api: CannedApi, cli: Cli) -> None:
    api.respond("POST admin/reconciliation/run", {"id": PASS})
    result = {"id": PASS, "status": "finished", "outcome": "unfinished", "text": "Left for the next pass: jobs"}
    api.respond(f"GET admin/reconciliation/{PASS}", result)
    assert cli("reconcile", "--wait").returncode == 0


def test_installations_are_listed(cli: Cli) -> None:
    assert (
        cli("installations", "--utc").stdout.splitlines()[1]
        == "          42  org-42        active  2025-01-01 00:00:00Z"
    )


@pytest.mark.parametrize(
    ("arguments", "route", "response"),
    [
        (["stats"], f"installations/{INSTALLATION}/statistics", responses.STATISTICS),
        (["pools"], f"installations/{INSTALLATION}/pools", responses.POOLS),
        (["stuck"], f"installations/{INSTALLATION}/stuck", responses.STUCK),
        (["run", str(RUN)], f"installations/{INSTALLATION}/runs/{RUN}", responses.RUN_RESPONSE),
        (["orphans"], "admin/orphans", responses.ORPHANS),
        (["installations"], "installations", responses.installations(INSTALLATION)),
    ],
    ids=lambda each: each[0] if isinstance(each, list) else "",
)
def test_json_is_the_response_unchanged(
    api: CannedApi, cli: Cli, arguments: list[str], route: str, response: dict[str, object]
) -> None:
    api.respond(f"GET {route}", response)
    assert json.loads(cli("--json", *arguments).stdout) == response
