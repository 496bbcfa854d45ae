"""Checks with GitHub whether the machine of a job that still awaits a runner has registered.

The runners are listed first. For a suspended or deleted installation, listing raises UnavailableError. So a job that
can't be read for the same reason isn't mistaken for one that GitHub doesn't have.
"""

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
from runledger.model.suspicion import RegistrationState
from runledger.reconciliation.owners import Owners
from runledger.reconciliation.passes import Pass
from runledger.reconciliation.registrations import MachineSearch, Registrations


class Jobs(Protocol):
    def job(self, installation_id: int, repo_full_name: str, job_id: int) -> GitHubJob | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AwaitedRunners:
    """Without a GitHub App, `registrations` and `github` are None, and nothing is found."""

    owners: Owners
    registrations: Registrations | None
    github: Jobs | None

    def registration(self, runner: Runner, job: Job, instance: Instance, current: Pass) -> RegistrationState | None:
        """The machine's registration if its job awaits a runner on GitHub, else None. Also None without an App."""
        if self.registrations is None or self.github is None:
            return None
        if job.installation_id == NO_INSTALLATION or job.repo_full_name is None:
            return None
        runner = runner.with_values(owner_name=named_owner(instance.tags))
        installation_ids = self.owners.to_search(runner, instance.tags)
        search = MachineSearch(runner=runner, job=job, installation_ids=installation_ids, may_ask=current.may_ask)
        self.registrations.search(search)
        if not current.may_ask(job.installation_id):
            raise UnavailableError(RESERVED)
        found = self.github.job(job.installation_id, job.repo_full_name, job.job_id)
        if found is None or found.status is not Status.QUEUED or not found.awaits_runner:
            return None
        return self.registrations.state_of(search)
