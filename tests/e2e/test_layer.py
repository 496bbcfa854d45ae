"""The layer alone is enough: the emulated AWS runs functions in our environment, which would hide what is missing."""

import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from local.outputs import Outputs

ROOT = Path(__file__).parent.parent.parent
BROUGHT_BY_LAMBDA = ("boto3", "botocore", "s3transfer", "jmespath", "dateutil", "urllib3", "six.py")
ENVIRONMENT = {
    "AWS_DEFAULT_REGION": "us-east-1",
    "JOBS_TABLE": "jobs",
    "JOB_EVENTS_TABLE": "events",
    "JOBS_RETENTION_DAYS": "90",
    "JOB_EVENTS_RETENTION_DAYS": "14",
    "WEBHOOK_SECRETS": "secret",
    "WEBHOOK_RETRIES_QUEUE": "queue",
}


@pytest.fixture(scope="session")
def layer(outputs: Outputs, deployed_folder: Path) -> Path:
    assert outputs
    (built,) = deployed_folder.glob("cdk.out/asset.*/python")
    return built


@pytest.mark.parametrize("function", ["webhook_intake", "webhook_retry"])
def test_a_function_starts_with_nothing_but_the_layer_and_lambdas_own_boto3(
    layer: Path, function: str, tmp_path: Path
) -> None:
    for name in BROUGHT_BY_LAMBDA:
        (tmp_path / name).symlink_to(Path(sysconfig.get_path("purelib")) / name)
    paths = [str(ROOT / "functions"), str(layer), str(tmp_path)]
    code = f"import sys; sys.path[:0] = {paths!r}; import {function}; print({function}.handler.__name__)"
    started = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], env=ENVIRONMENT, check=False, capture_output=True, text=True
    )
    assert (started.returncode, started.stdout, started.stderr) == (0, "handler\n", "")


def test_the_layer_carries_no_second_boto3_and_no_pydantic(layer: Path) -> None:
    assert {"runledger", "aws_lambda_powertools"} <= {each.name for each in layer.iterdir()}
    assert not {"boto3", "botocore", "pydantic"} & {each.name for each in layer.iterdir()}
