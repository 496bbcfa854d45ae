"""Pasted URLs are parsed or rejected."""

import pytest
from runledger.queries import urls
from runledger.queries.urls import GitHubUrl

JOB = GitHubUrl(repo_full_name="o/r", run_id=1, job_id=2)
UNDERSTOOD = {
    "https://github.com/o/r/actions/runs/1/job/2": JOB,
    "https://github.com/o/r/actions/runs/1/job/2#step:4:13": JOB,
    "  https://github.com/o/r/actions/runs/1/job/2?pr=5 ": JOB,
    "https://github.com/o/r/actions/runs/1/": GitHubUrl(repo_full_name="o/r", run_id=1),
    "https://github.com/o/r/actions/runs/1/attempts/3": GitHubUrl(repo_full_name="o/r", run_id=1, run_attempt=3),
    "https://github.com/o/r/runs/2": GitHubUrl(repo_full_name="o/r", job_id=2),
    "https://api.github.com/repos/o/r/actions/jobs/2": GitHubUrl(repo_full_name="o/r", job_id=2),
    "https://api.github.com/repos/o/r/actions/runs/1/attempts/3/jobs": GitHubUrl(
        repo_full_name="o/r", run_id=1, run_attempt=3
    ),
    "https://ghes.example.com/api/v3/repos/o/r/actions/runs/1": GitHubUrl(repo_full_name="o/r", run_id=1),
}


@pytest.mark.parametrize(("url", "found"), UNDERSTOOD.items())
def test_the_urls_of_jobs_and_runs_are_parsed(url: str, found: GitHubUrl) -> None:
    assert urls.parse(url) == found


@pytest.mark.parametrize(
    "url",
    [
        *("", "12877621891", "github.com/o/r/actions/runs/1", "ftp://github.com/o/r/actions/runs/1"),
        *("https://github.com/o/r", "https://github.com/o/r/actions/runs/one", "https://github.com/o/r/pull/1"),
        *("https://[/o/r/actions/runs/1", "https:///o/r/actions/runs/1"),
    ],
)
def test_any_other_url_is_rejected(url: str) -> None:
    assert urls.parse(url) is None


def test_the_page_of_a_run_is_part_of_its_jobs_page() -> None:
    assert urls.run_page("https://github.com/o/r/actions/runs/1/job/2", 1) == "https://github.com/o/r/actions/runs/1"
    assert urls.run_page("https://github.com/o/r/actions/runs/12/job/2", 1) is None
    assert urls.run_page("https://github.com/o/r/runs/2", 1) is None
    assert urls.run_page(None, None) is None
