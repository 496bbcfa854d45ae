"""What the functions that ask GitHub need: they, and only they, have the layer of its client."""

import json
from collections.abc import Callable
from functools import cache

from runledger_github.app import GitHubApp
from runledger_github.errors import GitHubRefusal
from runledger_github.requests import Requests
from runledger_github.retries import Patience
from runledger_github.truth import Truth

from runledger.aws import client
from runledger.caches import DeploymentCache, DeploymentRefresh
from runledger.errors import UnavailableError
from runledger.model import Job
from runledger.reports import Approval
from runledger.reruns import Reruns
from runledger.runtime import deployments, record, setting
from runledger.tables.rerun_claims import RerunClaims
from runledger.tables.runs import RunsTable


@cache
def truth() -> Truth | None:
    """None until somebody has put a GitHub App into its secret: then we know what webhooks tell, and no more."""
    secret = client("secretsmanager").get_secret_value(SecretId=setting("GITHUB_APP"))["SecretString"]
    if not json.loads(secret):
        return None
    patience = Patience(seconds=float(setting("GITHUB_PATIENCE_SECONDS", default="30")))
    return Truth(app=GitHubApp.from_secret(secret, api_url=setting("GITHUB_API_URL"), patience=patience))


@cache
def is_pending() -> Callable[[Job], bool]:
    """Whether a waiting job still waits for an approval: GitHub's word where we can ask, else the table's."""
    known = truth()
    cache = None
    if known:
        refresh = DeploymentRefresh(deployments=deployments(), ask=known.deployment)
        cache = DeploymentCache(deployments=deployments(), refresh=refresh)

    def pending(job: Job) -> bool:
        if job.deployment_id is None or job.repo_full_name is None:
            return True
        try:
            found = cache.get(job.installation_id, job.repo_full_name, job.deployment_id) if cache else None
        except (GitHubRefusal, UnavailableError):
            found = None  # one approval that cannot be asked about must not hide the others
        if found is None:
            found = deployments().get(job.installation_id, job.deployment_id)
        return found is None or found.get("status") == Approval.PENDING

    return pending


@cache
def requests() -> Requests:
    runs = RunsTable(client("dynamodb"), setting("RUNS_TABLE"), retention_days=int(setting("RUNS_RETENTION_DAYS")))
    return Requests(truth=truth(), runs=runs, deployments=deployments())


@cache
def reruns() -> Reruns | None:
    """None without a GitHub App: nobody else may ask for a re-run."""
    known = truth()
    if known is None:
        return None
    return Reruns(
        claims=RerunClaims(client("dynamodb"), setting("RUNS_TABLE")),
        record=record,
        github=known.app.installation,
        refusals=(GitHubRefusal,),
        at_most=int(setting("RERUNS_AT_MOST")),
        own_failures_too=setting("RERUN_OWN_FAILURES") == "true",
    )
