"""URLs of jobs and runs: their pages on GitHub, and their resources in the REST API. Pure."""

import re
from urllib.parse import urlsplit

from runledger.model.dataclass import dataclass
from runledger.model.payload import LARGEST_ID

_REPO = r"(?:/api/v3)?(?:/repos)?/(?P<repo>[^/]+/[^/]+)"
_PATHS = (
    re.compile(rf"{_REPO}/actions/runs/(?P<run>\d+)(?:/attempts/(?P<attempt>\d+))?(?:/job/(?P<job>\d+))?(?:/jobs)?"),
    re.compile(rf"{_REPO}/actions/jobs/(?P<job>\d+)"),
    re.compile(rf"{_REPO}/runs/(?P<job>\d+)"),  # GitHub's former pages of jobs
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GitHubUrl:
    """Has a `run_id`, a `job_id` or both. The host is ignored: one deployment serves one GitHub host."""

    repo_full_name: str
    run_id: int | None = None
    run_attempt: int | None = None
    job_id: int | None = None


def parse(url: str) -> GitHubUrl | None:
    """None if it isn't the URL of a job or run."""
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not parts.netloc:
        return None
    for path in _PATHS:
        if found := path.fullmatch(parts.path.rstrip("/")):
            numbers = {name: _number(value) for name, value in found.groupdict().items() if name != "repo"}
            return GitHubUrl(
                repo_full_name=found["repo"],
                run_id=numbers.get("run"),
                run_attempt=numbers.get("attempt"),
                job_id=numbers.get("job"),
            )
    return None


def run_page(job_html_url: str | None, run_id: int | None) -> str | None:
    """The URL of a job's run, which is the start of the job's own URL."""
    found = re.match(rf"(.+/actions/runs/{run_id})(/|$)", job_html_url or "")
    return found[1] if found and run_id is not None else None


def _number(text: str | None) -> int | None:
    return min(int(text), LARGEST_ID) if text else None
