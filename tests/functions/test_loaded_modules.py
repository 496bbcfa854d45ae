"""A cold start pays for every module: intake loads what it needs and nothing else."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
LOAD = """
import os, sys
sys.path[:0] = ["functions", "layers/domain/python"]
os.environ.update(AWS_DEFAULT_REGION="us-east-1", JOBS_TABLE="j", JOB_EVENTS_TABLE="e", JOBS_RETENTION_DAYS="90",
    JOB_EVENTS_RETENTION_DAYS="14", RUNS_TABLE="r", RUNS_RETENTION_DAYS="90", DEPLOYMENTS_TABLE="d",
    DEPLOYMENTS_RETENTION_DAYS="90", RUNNER_LOOKUPS_QUEUE="l", RERUN_CHECKS_QUEUE="c", INSTANCE_ID_PATTERN="i-",
    WEBHOOK_SECRETS="s", WEBHOOK_RETRIES_QUEUE="q")
import webhook_intake
print("\\n".join(sys.modules))
"""


def test_intake_loads_no_pydantic_no_tracer_and_no_github_client() -> None:
    loaded = subprocess.run(
        [sys.executable, "-c", LOAD], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.splitlines()
    assert "runledger.intake" in loaded
    unwanted = (
        *("pydantic", "aws_xray_sdk", "aws_lambda_powertools.tracing", "runledger_github", "jwt", "requests"),
        *("runledger.prices", "runledger.reruns", "runledger.lookups"),
    )
    assert [name for name in loaded if name.startswith(unwanted)] == []
