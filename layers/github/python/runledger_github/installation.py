"""What Runledger asks of GitHub on behalf of one installation, answered in GitHub's own JSON."""

import contextlib
from collections.abc import Iterator, Sequence
from urllib.parse import quote

from runledger.model.payload import is_repository_name

from runledger_github.errors import BadName, NotFound
from runledger_github.limits import Budget
from runledger_github.messages import Call, Json
from runledger_github.session import Session

PAGE = {"per_page": "100"}
NOT_A_SEGMENT = ("", ".", "..")


class Installation:
    def __init__(self, installation_id: int, session: Session) -> None:
        self.id = installation_id
        self._session = session

    @property
    def budget(self) -> Budget | None:
        """As of the last answer; None before the first, and where GitHub does not count."""
        return self._session.budget

    def run(self, repo: str, run_id: int, attempt: int | None = None) -> Json:
        of_attempt = () if attempt is None else ("attempts", attempt)
        return self._thing(_repo(repo, "actions", "runs", run_id, *of_attempt))

    def run_jobs(self, repo: str, run_id: int, attempt: int) -> Iterator[Json]:
        return self._list(_repo(repo, "actions", "runs", run_id, "attempts", attempt, "jobs"), within="jobs")

    def job(self, repo: str, job_id: int) -> Json:
        return self._thing(_repo(repo, "actions", "jobs", job_id))

    def rerun_failed_jobs(self, repo: str, run_id: int) -> None:
        """Refused (403) until the whole run is finished; after a NoAnswerError its attempt tells whether it began."""
        path = _repo(repo, "actions", "runs", run_id, "rerun-failed-jobs")
        self._session.ask(Call(method="POST", path=path, repeatable=False))

    def pending_deployments(self, repo: str, run_id: int) -> Sequence[Json]:
        path = _repo(repo, "actions", "runs", run_id, "pending_deployments")
        pending: Sequence[Json] = self._session.ask(Call(method="GET", path=path))
        return pending

    def deployment(self, repo: str, deployment_id: int) -> Json:
        return self._thing(_repo(repo, "deployments", deployment_id))

    def deployment_statuses(self, repo: str, deployment_id: int) -> Iterator[Json]:
        """Newest first."""
        return self._list(_repo(repo, "deployments", deployment_id, "statuses"))

    def repositories(self) -> Iterator[Json]:
        """All that the installation may access."""
        return self._list("/installation/repositories", within="repositories")

    def repo_runners(self, repo: str) -> Iterator[Json]:
        return self._list(_repo(repo, "actions", "runners"), within="runners")

    def org_runners(self, org: str) -> Iterator[Json]:
        return self._list(_path("orgs", org, "actions", "runners"), within="runners")

    def delete_repo_runner(self, repo: str, runner_id: int) -> None:
        self._delete(_repo(repo, "actions", "runners", runner_id))

    def delete_org_runner(self, org: str, runner_id: int) -> None:
        self._delete(_path("orgs", org, "actions", "runners", runner_id))

    def rate_limit(self) -> Json:
        """Costs nothing; NotFound on an Enterprise Server that does not count calls."""
        limits: Json = self._session.ask(Call(method="GET", path="/rate_limit", free=True))
        return limits

    def _thing(self, path: str) -> Json:
        thing: Json = self._session.ask(Call(method="GET", path=path, conditional=True))
        return thing

    def _list(self, path: str, within: str | None = None) -> Iterator[Json]:
        for page in self._session.pages(Call(method="GET", path=path, query=PAGE)):
            yield from page.document[within] if within else page.document

    def _delete(self, path: str) -> None:
        """Returns when the runner is gone, whoever removed it; Refused (422) while it is busy."""
        with contextlib.suppress(NotFound):
            self._session.ask(Call(method="DELETE", path=path))


def _repo(full_name: str, *parts: object) -> str:
    if not is_repository_name(full_name):
        raise BadName(full_name)
    return _path("repos", *full_name.split("/"), *parts)


def _path(*parts: object) -> str:
    """A segment of dots would lead to another resource, and no encoding prevents that."""
    segments = [quote(str(part), safe="") for part in parts]
    for segment in segments:
        if segment in NOT_A_SEGMENT:
            raise BadName(segment)
    return "".join(f"/{segment}" for segment in segments)
