"""Checks with GitHub whether the machine of a job that still awaits a runner has registered.

The runners are listed first. If the installation is suspended or was deleted, that fails as temporary, so the job,
which can't be read either, isn't taken for missing.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

from runledger.model.dataclass import dataclass
from runledger.model.errors import UnavailableError
from runledger.model.inputs import Status
from runledger.model.instance import Instance
from runledger.model.job import Job
from runledger.model.ownership import named_owner
from runledger.model.passes import RESERVED
from runledger.model.reports import NO_INSTALLATION
from runledger.model.runner import Runner
from runledger.model.stuck import GitHubJob
from runledger.model.suspicion import Registration
from runledger.reconciliation.owners import Owners
from runledger.reconciliation.passes import Pass


class RegistrationSearch(Protocol):
    """Implemented by runledger_github."""

    def search(self, installation_ids: Sequence[int], *, may_ask: Callable[[int], bool]) -> None: ...

    def registration_of(
        self, runner: Runner, job: Job | None, *, installation_ids: Sequence[int], may_ask: Callable[[int], bool]
    ) -> Registration:
        """Raises UnavailableError if an installation doesn't respond, or another registration may be this machine's."""


class Jobs(Protocol):
    def job(self, installation_id: int, repo_full_name: str, job_id: int) -> GitHubJob | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AwaitedRunners:
    """Without a GitHub App, `registrations` and `github` are None, and nothing is found."""

    owners: Owners
    registrations: RegistrationSearch | None
    github: Jobs | None

    def registration(self, runner: Runner, job: Job, instance: Instance, current: Pass) -> Registration | None:
        """The machine's registration if its job awaits a runner on GitHub, else None. Also None without an App."""
        if self.registrations is None or self.github is None:
            return None
        if job.installation_id == NO_INSTALLATION or job.repo_full_name is None:
            return None
        runner = runner.with_values(owner_name=named_owner(instance.tags))
        searched = self.owners.to_search(runner, instance.tags)
        self.registrations.search(searched, may_ask=current.may_ask)
        if not current.may_ask(job.installation_id):
            raise UnavailableError(RESERVED)
        found = self.github.job(job.installation_id, job.repo_full_name, job.job_id)
        if found is None or found.status is not Status.QUEUED or not found.awaits_runner:
            return None
        return self.registrations.registration_of(runner, job, installation_ids=searched, may_ask=current.may_ask)
