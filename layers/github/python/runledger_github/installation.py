"""GitHub's REST API as one installation uses it. Results are GitHub's own JSON."""

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import quote

from runledger.model.payload import is_repository_name

from runledger_github.calls import Call, Json
from runledger_github.errors import BadName, NotFound, Refused
from runledger_github.limits import Budget
from runledger_github.session import Session

PAGE = {"per_page": "100"}
# Available since February 2026. An older Enterprise Server rejects the field, or ignores it.
RUN_DETAILS = "return_run_details"
UNKNOWN_FIELD = (400, 422)
FORBIDDEN_SEGMENTS = ("", ".", "..")


class Installation:
    def __init__(self, installation_id: int, session: Session) -> None:
        self.id = installation_id
        self._session = session

    @property
    def budget(self) -> Budget | None:
        """The rate limit as of the last response; None before the first call, and on a server without rate limits."""
        return self._session.budget

    def run(self, repo: str, run_id: int, attempt: int | None = None) -> Json:
        suffix = () if attempt is None else ("attempts", attempt)
        return self._get(_repo(repo, "actions", "runs", run_id, *suffix))

    def run_jobs(self, repo: str, run_id: int, attempt: int) -> Iterator[Json]:
        return self._list(_repo(repo, "actions", "runs", run_id, "attempts", attempt, "jobs"), items_in="jobs")

    def job(self, repo: str, job_id: int) -> Json:
        return self._get(_repo(repo, "actions", "jobs", job_id))

    def rerun_failed_jobs(self, repo: str, run_id: int) -> None:
        """Refused (403) until the whole run is finished. After a NoResponseError, check its attempt number."""
        path = _repo(repo, "actions", "runs", run_id, "rerun-failed-jobs")
        self._session.json(Call(method="POST", path=path, repeatable=False))

    def repository(self, repo: str) -> Json:
        return self._get(_repo(repo))

    def workflow(self, repo: str, workflow: str) -> Json:
        """`workflow` is its id, or the name of its file."""
        return self._get(_repo(repo, "actions", "workflows", workflow))

    def dispatch_workflow(self, repo: str, workflow: str, *, ref: str) -> Json:
        """Returns `workflow_run_id` and `html_url` of the run; empty on a server that doesn't name it.

        After a NoResponseError that isn't `repeatable`, GitHub may have started a run.
        """
        path = _repo(repo, "actions", "workflows", workflow, "dispatches")
        call = Call(method="POST", path=path, repeatable=False, body={"ref": ref, RUN_DETAILS: True})
        try:
            details = self._session.json(call)
        except Refused as refused:
            if refused.status not in UNKNOWN_FIELD or RUN_DETAILS not in refused.message:
                raise
            details = self._session.json(replace(call, body={"ref": ref}))
        return details if isinstance(details, dict) else {}

    def deployment(self, repo: str, deployment_id: int) -> Json:
        return self._get(_repo(repo, "deployments", deployment_id))

    def deployment_statuses(self, repo: str, deployment_id: int) -> Iterator[Json]:
        """Newest first."""
        return self._list(_repo(repo, "deployments", deployment_id, "statuses"))

    def repositories(self) -> Iterator[Json]:
        """All repositories that the installation can access."""
        return self._list("/installation/repositories", items_in="repositories")

    def repo_runners(self, repo: str) -> Iterator[Json]:
        return self._list(_repo(repo, "actions", "runners"), items_in="runners")

    def org_runners(self, org: str) -> Iterator[Json]:
        return self._list(_path("orgs", org, "actions", "runners"), items_in="runners")

    def delete_repo_runner(self, repo: str, runner_id: int) -> None:
        self._delete(_repo(repo, "actions", "runners", runner_id))

    def delete_org_runner(self, org: str, runner_id: int) -> None:
        self._delete(_path("orgs", org, "actions", "runners", runner_id))

    def _get(self, path: str) -> Json:
        document: Json = self._session.json(Call(method="GET", path=path, conditional=True))
        return document

    def _list(self, path: str, items_in: str | None = None) -> Iterator[Json]:
        for page in self._session.pages(Call(method="GET", path=path, query=PAGE)):
            yield from page.document[items_in] if items_in else page.document

    def _delete(self, path: str) -> None:
        """Also succeeds if the runner is already gone. Refused (422) while it is busy."""
        with contextlib.suppress(NotFound):
            self._session.json(Call(method="DELETE", path=path))


def _repo(full_name: str, *parts: object) -> str:
    if not is_repository_name(full_name):
        raise BadName(full_name)
    return _path("repos", *full_name.split("/"), *parts)


def _path(*parts: object) -> str:
    """Rejects `.` and `..`: they would address another resource, and quoting doesn't change them."""
    segments = [quote(str(part), safe="") for part in parts]
    for segment in segments:
        if segment in FORBIDDEN_SEGMENTS:
            raise BadName(segment)
    return "".join(f"/{segment}" for segment in segments)
