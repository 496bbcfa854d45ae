"""Jobs: lists, one job, and its history."""

from dataclasses import replace

import pytest
from runledger.platform import clients
from runledger.recording.ledger import Ledger

from tests.api.client import Client
from tests.api.conftest import ELSEWHERE, Live
from tests.functions.conftest import World
from tests.support.beds import items
from tests.support.ledgers import JOBS as TABLE
from tests.support.runner_receipts import interrupted, scheduled
from tests.support.webhooks import COMPLETED, IN_PROGRESS, INSTALLATION, JOB, QUEUED, REPO, RUN, WAITING

JOBS = f"/v1/installations/{INSTALLATION}/jobs"
HIDDEN = {"PK", "SK", "by_status", "by_repo", "by_run", "by_completion", "inputs", "version", "ttl"}


def test_a_job_has_the_tables_attributes_without_its_keys(api: Client, live: Live) -> None:
    live(JOB)
    response = api.get(f"{JOBS}/{JOB}")
    assert response.status == 200
    job = response.body
    assert (job["status"], job["conclusion"], job["usage_in_seconds"]) == ("completed", "success", 615)
    assert job["github_run_url"] == f"https://github.com/{REPO}/actions/runs/{RUN}"
    assert job["custom_properties"] == {"team": "platform", "tier": ["gold", "silver"]}
    assert not job.keys() & HIDDEN
    assert None not in job.values()


def test_was_interrupted_is_true_or_false_in_every_response_with_a_job(
    api: Client, live: Live, ledger: Ledger, world: World
) -> None:
    live(1)
    live(2, until=IN_PROGRESS)
    ledger.record(scheduled(2))
    ledger.record(interrupted(2))
    assert [api.get(f"{JOBS}/{job_id}").body["was_interrupted"] for job_id in (1, 2)] == [False, True]
    pasted = f"https://github.com/{REPO}/actions/runs/{RUN}/job/1"
    assert api.get("/v1/jobs/lookup", url=pasted).body["job"]["was_interrupted"] is False
    for response in (
        api.get(JOBS, repo=REPO).body["items"],
        api.get(f"/v1/installations/{INSTALLATION}/runs/{RUN}").body["jobs"],
    ):
        assert {job["job_id"]: job["was_interrupted"] for job in response} == {1: False, 2: True}
    a_day_later = replace(api, now_ms=api.now_ms + 86_400_000)
    stuck = a_day_later.get(f"/v1/installations/{INSTALLATION}/stuck").body["items"]
    assert {each["job"]["job_id"]: each["job"]["was_interrupted"] for each in stuck} == {2: True}
    stored = {item["job_id"]: item.get("was_interrupted") for item in items(world.dynamodb, TABLE) if item["SK"] == "v"}
    assert stored == {1: None, 2: True}  # absent unless true: it costs no write


def test_an_unknown_job_is_404_and_named(api: Client, live: Live) -> None:
    live(JOB)
    response = api.get(f"{JOBS}/5")
    assert response.status == 404
    assert response.headers["Content-Type"] == "application/problem+json"
    assert response.body["detail"] == f"Job 5 was not found in installation {INSTALLATION}"


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"status": "completed"}, [3]),
        ({"status": "in_progress"}, [2]),
        ({"status": "waiting"}, []),
        ({"repo": REPO}, [1, 2, 3]),
        ({"repo": "some/other"}, []),
        ({"run_id": RUN}, [1, 2, 3]),
        ({"run_id": RUN, "run_attempt": 1}, [1, 2, 3]),
        ({"run_id": RUN, "run_attempt": 2}, []),
        ({"run_id": 5}, []),
        ({"status": "queued", "repo": REPO}, [1]),
        ({"status": "completed", "repo": "some/other"}, []),
        ({"run_id": RUN, "status": "in_progress"}, [2]),
        ({"repo": REPO, "conclusion": "success"}, [3]),
        ({"repo": REPO, "conclusion": "failure"}, []),
        ({"status": "completed", "range_of": "completed"}, [3]),
    ],
)
def test_jobs_are_listed_by_status_repository_or_run(
    api: Client, live: Live, query: dict[str, object], found: list[int]
) -> None:
    for job_id, until in ((1, QUEUED), (2, IN_PROGRESS), (3, COMPLETED)):
        live(job_id, until=until)
    response = api.get(JOBS, **query)
    assert response.status == 200
    assert sorted(job["job_id"] for job in response.body["items"]) == found
    assert response.body["next_cursor"] is None


def test_jobs_are_listed_newest_first_unless_order_is_oldest(api: Client, live: Live) -> None:
    for minute in (1, 2, 3):
        live(minute, until=QUEUED, created_at=f"2025-01-15T10:0{minute}:00Z")
    newest, oldest = (api.get(JOBS, repo=REPO, order=order).body["items"] for order in ("newest", "oldest"))
    assert [job["job_id"] for job in newest] == [3, 2, 1]
    assert [job["job_id"] for job in oldest] == [1, 2, 3]


@pytest.mark.parametrize(
    ("span", "found"),
    [
        ({"since": "2025-01-15T10:02:00Z"}, [2, 3]),
        ({"until": "2025-01-15T10:02:00Z"}, [1]),
        ({"since": "2025-01-15T11:02:00+01:00", "until": "2025-01-15T10:03:00Z"}, [2]),
        ({"since": "118m"}, [2, 3]),
        ({"since": "1d", "until": "117m"}, [1, 2]),
    ],
)
def test_since_is_inclusive_and_until_is_exclusive(
    api: Client, live: Live, span: dict[str, str], found: list[int]
) -> None:
    for minute in (1, 2, 3):
        live(minute, until=QUEUED, created_at=f"2025-01-15T10:0{minute}:00Z")
    assert [job["job_id"] for job in api.get(JOBS, repo=REPO, order="oldest", **span).body["items"]] == found


def test_a_list_goes_on_where_it_ended(api: Client, live: Live) -> None:
    for minute in range(5):
        live(minute + 1, until=QUEUED, created_at=f"2025-01-15T10:0{minute}:00Z")
    seen, cursor = [], None
    for _ in range(3):
        page = api.get(JOBS, repo=REPO, limit=2, cursor=cursor).body
        seen += [job["job_id"] for job in page["items"]]
        cursor = page["next_cursor"]
    assert seen == [5, 4, 3, 2, 1]
    assert cursor is None


def test_a_list_of_a_run_goes_on_with_its_attempt_when_a_newer_one_begins(api: Client, live: Live) -> None:
    for job_id in (1, 2):
        live(job_id, created_at=f"2025-01-15T10:00:0{job_id}Z")
    first = api.get(JOBS, run_id=RUN, limit=1, order="oldest").body
    live(3, run_attempt=2, created_at="2025-01-15T10:00:03Z")
    second = api.get(JOBS, run_id=RUN, limit=1, order="oldest", cursor=first["next_cursor"]).body
    assert [job["job_id"] for page in (first, second) for job in page["items"]] == [1, 2]
    assert second["next_cursor"] is None


def test_a_short_page_of_rare_matches_is_read_in_few_requests(api: Client, live: Live) -> None:
    for job_id in range(1, 61):
        live(job_id, until=QUEUED)
    requests: list[str] = []
    clients.client("dynamodb").meta.events.register(
        "before-call.dynamodb.Query", lambda model, **_: requests.append(model.name)
    )
    page = api.get(JOBS, repo=REPO, conclusion="failure", limit=1).body
    assert (page["items"], page["next_cursor"]) == ([], None)
    assert len(requests) <= 4


def test_the_history_of_a_job_is_complete_or_limited_to_one_day(api: Client, live: Live) -> None:
    live(JOB)
    lines = api.get(f"{JOBS}/{JOB}/events").body["items"]
    assert [line["event_type"] for line in lines] == [
        *("webhook_queued", "webhook_waiting", "webhook_queued", "webhook_in_progress", "webhook_completed"),
    ]
    assert lines[-1]["changes"]["status"] == {"from": "in_progress", "to": "completed"}
    assert not lines[0].keys() & HIDDEN
    assert len(api.get(f"{JOBS}/{JOB}/events", day="2025-01-15").body["items"]) == 5
    assert api.get(f"{JOBS}/{JOB}/events", day="2025-01-14").body["items"] == []
    newest = api.get(f"{JOBS}/{JOB}/events", order="newest", limit=1).body
    assert newest["items"][0]["event_type"] == "webhook_completed"
    assert newest["next_cursor"]


def test_the_history_of_an_unknown_job_is_404(api: Client, live: Live) -> None:
    live(JOB)
    assert api.get(f"{JOBS}/5/events").status == 404


def test_new_events_are_returned_once_and_oldest_first(api: Client, live: Live) -> None:
    live(1, until=WAITING)
    live(2, until=QUEUED)
    path = f"/v1/installations/{INSTALLATION}/events"
    first = api.get(path, since="2h", limit=2).body
    assert [(event["job_id"], event["event_type"]) for event in first["items"]] == [
        (1, "webhook_queued"),
        (2, "webhook_queued"),
    ]
    second = api.get(path, since=first["next_since"], limit=2).body
    assert [(event["job_id"], event["event_type"]) for event in second["items"]] == [(1, "webhook_waiting")]
    assert api.get(path, since=second["next_since"]).body["items"] == []


URLS = {
    "a job's page": f"https://github.com/{REPO}/actions/runs/{RUN}/job/{JOB}",
    "a job's page with a fragment": f"https://github.com/{REPO}/actions/runs/{RUN}/job/{JOB}?pr=7#step:3:1",
    "a job of the API": f"https://api.github.com/repos/{REPO}/actions/jobs/{JOB}",
    "a run's page": f"https://github.com/{REPO}/actions/runs/{RUN}",
    "an attempt of a run": f"https://github.com/{REPO}/actions/runs/{RUN}/attempts/1",
}


@pytest.mark.parametrize("url", URLS.values(), ids=URLS)
def test_an_address_of_github_leads_to_its_job_or_run(api: Client, live: Live, url: str) -> None:
    live(JOB)
    live(JOB, installation_id=ELSEWHERE, until=QUEUED)
    response = api.get("/v1/jobs/lookup", url=url)
    assert response.status == 200
    assert (response.body["installation_id"], response.body["run_id"]) == (INSTALLATION, RUN)
    assert response.body["run_attempt"] == 1
    assert ("job" in response.body) is ("job" in url.rpartition(str(RUN))[2] or "jobs" in url)


@pytest.mark.parametrize(
    "url", ["https://github.com/o/r/actions/runs/1", f"https://github.com/some/fork/actions/runs/{RUN}/job/{JOB}"]
)
def test_an_address_of_something_unknown_is_404(api: Client, live: Live, url: str) -> None:
    live(JOB)
    assert api.get("/v1/jobs/lookup", url=url).status == 404


def test_an_address_of_something_else_is_400(api: Client) -> None:
    response = api.get("/v1/jobs/lookup", url="https://example.com/hello")
    assert response.status == 400
    assert response.body["errors"][0]["parameter"] == "url"
