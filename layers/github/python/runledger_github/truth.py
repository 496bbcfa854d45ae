"""What GitHub itself says of a run or a deployment, read as its webhooks are."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from runledger import payload, times
from runledger.deliveries import NO_INSTALLATION
from runledger.reading.deployments import approval_of
from runledger.reading.runs import run_report
from runledger.reports import DeploymentReport, RunReport

from runledger_github.app import GitHubApp
from runledger_github.errors import NotFound


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """None where GitHub knows of nothing, and where no App is installed that could ask."""

    app: GitHubApp
    clock: Callable[[], float] = time.time

    def run(self, installation_id: int, repo_full_name: str, run_id: int, run_attempt: int) -> RunReport | None:
        if installation_id == NO_INSTALLATION:
            return None
        try:
            found = self.app.installation(installation_id).run(repo_full_name, run_id, run_attempt)
        except NotFound:
            return None
        return run_report(found, installation_id=installation_id, repo_full_name=repo_full_name, at=self._now())

    def deployment(self, installation_id: int, repo_full_name: str, deployment_id: int) -> DeploymentReport | None:
        if installation_id == NO_INSTALLATION:
            return None
        installation = self.app.installation(installation_id)
        try:
            found = installation.deployment(repo_full_name, deployment_id)
            states = {str(each["state"]) for each in installation.deployment_statuses(repo_full_name, deployment_id)}
        except NotFound:
            return None
        return DeploymentReport(
            installation_id=installation_id,
            deployment_id=deployment_id,
            reported_at=self._now(),
            repo_full_name=repo_full_name,
            environment=payload.text(found, "environment"),
            created_at=payload.instant(found, "created_at"),
            status=approval_of(states),
            requires_approval="waiting" in states or None,
        )

    def _now(self) -> str:
        return times.from_epoch_ms(round(self.clock() * times.MS_PER_SECOND))
