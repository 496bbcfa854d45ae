"""The environment of functions in tests and in the bench, and a new start for what is wired from it."""

import gc
import re
import sys

from runledger.model.runner_names import INSTANCE_ID
from runledger.platform import clients

from tests.support.ledgers import DEPLOYMENTS, EVENTS, JOBS, RUNNERS, RUNS

QUEUE = "https://sqs.invalid/000000000000/"
SETTINGS = {
    "JOBS_TABLE": JOBS,
    "JOBS_RETENTION_DAYS": "90",
    "JOB_EVENTS_TABLE": EVENTS,
    "JOB_EVENTS_RETENTION_DAYS": "14",
    "RUNS_TABLE": RUNS,
    "RUNS_RETENTION_DAYS": "90",
    "DEPLOYMENTS_TABLE": DEPLOYMENTS,
    "DEPLOYMENTS_RETENTION_DAYS": "90",
    "RUNNERS_TABLE": RUNNERS,
    "RUNNERS_RETENTION_DAYS": "14",
    "RUNNER_LOOKUPS_QUEUE": QUEUE + "lookups",
    "RERUN_CHECKS_QUEUE": QUEUE + "reruns",
    "WEBHOOK_RETRIES_QUEUE": QUEUE + "retries",
    "GITHUB_HOST": "github.com",
    "WEBHOOK_SECRETS": "the-webhook-secrets",
    "GITHUB_APP": "the-github-app",
    "API_TOKENS": "the-api-tokens",
    "GITHUB_API_URL": "https://github.invalid",
    "INSTANCE_ID_PATTERN": INSTANCE_ID,
    "POOL_TAGS": "pool",
    "ECS_CLUSTERS": "default,runners",
    "RERUNS_AT_MOST": "1",
    "RERUN": "interrupted",
    "FORGOTTEN_APPROVAL_HOURS": "24",
    "STUCK_QUEUED_MINUTES": "10",
    "STUCK_SCHEDULED_MINUTES": "10",
    "LONG_RUNNING_HOURS": "6",
    "RUNNER_REQUESTS_AT_MOST": "3",
    "REDELIVERIES_AT_MOST": "3",
    "GITHUB_BUDGET_FOR_OTHERS_PERCENT": "50",
    "OWN_ACCOUNT": "123456789012",
    "RUNNER_TAGS": "runner=yes",
    "KEEP_TAGS": "ghr:created_by=pool-lambda,static=*",
    "ORPHANS": "report",
    "ORPHAN_GRACE_MINUTES": "10",
    "RUNNER_REGISTRATION_MINUTES": "10",
    "RECONCILER_FUNCTION": "reconciler",
    "GITHUB_REQUESTS_FUNCTION": "github_requests",
    "GITHUB_REQUESTS_SECONDS": "15",
    "EVENT_BUS": "runledger-bench",
    "DEAD_LETTER_QUEUES": "{}",
    "AWS_REGION": "us-east-1",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_SECRET_ACCESS_KEY": "test",
    "FUNCTION": "a-function",
    "STAGE": "test",
}
WIRING = re.compile(r"runledger(\.wiring\.\w+|_\w+\.(\w+_)?wiring)")


def forget_wiring(function: str = "api") -> None:
    """Start as in a new process of this function: everything is wired again, and garbage is collected again.

    The clients stay, because they take long to make. The API's wiring is in no other function's process.
    """
    gc.unfreeze()
    ours = [name for name in list(sys.modules) if name.startswith("runledger")]  # of thousands
    modules = [sys.modules[name] for name in ours if WIRING.fullmatch(name)]
    modules = [each for each in modules if function == "api" or not each.__name__.startswith("runledger_api")]
    for wired in [each for module in modules for each in vars(module).values()]:
        if hasattr(wired, "cache_clear") and not isinstance(wired, type) and wired is not clients.client:
            wired.cache_clear()
