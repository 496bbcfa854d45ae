"""Log queries that operators need often, saved in CloudWatch Logs Insights."""

from collections.abc import Iterable

from aws_cdk import aws_logs as logs
from constructs import Construct

from stacks.names import access_log_name, log_group_name
from stacks.settings import Settings

# Lambda reports in plain text, not in JSON, what ends a function: timeouts, exceptions while a handler is imported,
# processes that exit or exceed their memory, and failed initialisations.
PLAIN_TEXT_ERRORS = (
    r"Task timed out after|^\[ERROR\]|Runtime exited|Runtime\.\w+Error|Status: (error|timeout)|Extension\.Crash"
)

# docs/monitoring.md explains each query under its name.
OVER_FUNCTIONS = {
    "follow one delivery": """
        fields @timestamp, function, level, message, event_type, status, outcome, reason, job_id
        | filter correlation_id = "PASTE THE X-GitHub-Delivery HERE"
        | sort @timestamp asc""",
    "follow one job": """
        fields @timestamp, function, level, message, event_type, status, outcome, correlation_id
        | filter job_id = 0
        | sort @timestamp asc""",
    "slowest repositories": """
        filter ispresent(QueueTime)
        | stats pct(QueueTime, 50) / 1000 as queued_p50_s, pct(QueueTime, 90) / 1000 as queued_p90_s,
            pct(JobDuration, 90) as ran_p90_s, count(*) as jobs by repo_full_name
        | sort queued_p90_s desc
        | limit 25""",
    "failing repositories": """
        filter ispresent(JobsFailed)
        | stats avg(JobsFailed) * 100 as failed_percent, count(*) as jobs by repo_full_name
        | sort failed_percent desc
        | limit 25""",
    "queue time by pool": """
        filter ispresent(QueueTime)
        | stats pct(QueueTime, 50) / 1000 as queued_p50_s, pct(QueueTime, 90) / 1000 as queued_p90_s,
            pct(InternalQueueTime, 90) / 1000 as until_launch_p90_s, count(*) as jobs by pool_name
        | sort queued_p90_s desc
        | limit 25""",
    "failures by instance type": """
        filter ispresent(JobsFailed)
        | stats sum(JobsFailed) as failed, avg(JobsFailed) * 100 as failed_percent, count(*) as jobs
            by instance_type, instance_lifecycle
        | sort failed desc
        | limit 25""",
    "cost by repository": """
        filter ispresent(Spend)
        | stats sum(Spend) as dollars, sum(SpotSavings) as saved_by_spot, count_distinct(job_id) as jobs
            by repo_full_name
        | sort dollars desc
        | limit 25""",
    "interrupted jobs": """
        fields @timestamp, repo_full_name, run_id, job_id, status
        | filter event_type = "runner_interrupted" and outcome = "recorded"
        | sort @timestamp desc""",
    "rejected and delayed deliveries": """
        filter message in ["delivery rejected", "recording deferred", "delivery not recorded"]
        | stats count(*) as deliveries, latest(@timestamp) as last, latest(correlation_id) as delivery
            by message, reason
        | sort deliveries desc""",
    "passes of the reconciler": """
        fields @timestamp, pass, outcome, summary.jobs_healed, summary.orphans, summary.orphans_cleaned,
            summary.webhooks_redelivered, summary.postponed, summary.errors
        | filter message = "reconciliation"
        | sort @timestamp desc
        | limit 50""",
    "orphans by repository": """
        filter ispresent(OrphanedRunnerRate)
        | stats sum(OrphanedRunnerRate) / 100 as orphans, avg(OrphanedRunnerRate) as orphan_percent by repo_full_name
        | sort orphans desc
        | limit 25""",
    "errors": f"""
        fields @timestamp, function, coalesce(message, @message) as text, item, correlation_id, exception_name,
            exception, @log
        | filter level in ["ERROR", "CRITICAL"] or @message like /{PLAIN_TEXT_ERRORS}/
        | sort @timestamp desc
        | limit 100""",
    "slow and cold starts": """
        filter @type = "REPORT"
        | stats count(*) as calls, count(@initDuration) as cold, max(@initDuration) as coldest_ms,
            pct(@duration, 99) as p99_ms, max(@maxMemoryUsed) / 1000000 as memory_mb by @log
        | sort p99_ms desc""",
}
OVER_ACCESS = {
    "API responses": """
        stats count(*) as requests, pct(latencyMs, 50) as p50_ms, pct(latencyMs, 99) as p99_ms by route, status
        | sort requests desc""",
}
# A renamed query keeps its logical id.
FIRST_NAMES = {"rejected and delayed deliveries": "refused and delayed deliveries"}


def save(scope: Construct, *, settings: Settings, functions: Iterable[str]) -> None:
    logged = [log_group_name(settings.stage, function) for function in functions]
    access = [access_log_name(settings.stage)]
    for queries, groups in ((OVER_FUNCTIONS, logged), (OVER_ACCESS, access)):
        for name, query in queries.items():
            logs.CfnQueryDefinition(
                scope,
                _id(name),
                name=f"{settings.prefix}/{name}",
                query_string=text_of(query),
                log_group_names=groups,
            )


def _id(name: str) -> str:
    return FIRST_NAMES.get(name, name).title().replace(" ", "")


def text_of(query: str) -> str:
    """Without the indentation of this file."""
    return "\n".join(line.strip() for line in query.strip().splitlines())
