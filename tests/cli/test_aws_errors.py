"""Commands that call AWS report its errors in one line: what failed, and what to do."""

from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.cli.command import runledger
from tests.github.canned_server import CannedServer, http

COMMANDS = (["token", "remove", "ana"], ["migrate", "s3://acme-runners"], ["verify", "s3://acme-runners"])
REGION = {"AWS_REGION": "us-east-1"}
KEYS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}


def run(arguments: list[str], home: Path, **variables: str) -> CompletedProcess[str]:
    """Without any configuration of AWS but `variables`."""
    nothing = {"HOME": str(home), "AWS_EC2_METADATA_DISABLED": "true", "AWS_MAX_ATTEMPTS": "1"}
    return runledger(*arguments, folder=None, **nothing, **variables)


@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda arguments: arguments[0])
@pytest.mark.parametrize(
    ("variables", "shown"),
    [
        ({}, "You must specify a region: set AWS_REGION, or `region` in your AWS profile"),
        (
            {"AWS_REGION": "us_east_1"},
            "Provided region_name 'us_east_1' doesn't match a supported format: "
            "check AWS_REGION, or `region` in your AWS profile",
        ),
        (REGION, "Unable to locate credentials: sign in to AWS, or set AWS_PROFILE"),
        (REGION | {"AWS_PROFILE": "missing"}, "The config profile (missing) could not be found: check AWS_PROFILE"),
        (REGION | KEYS | {"AWS_ENDPOINT_URL": "foo"}, "Invalid endpoint: foo: check AWS_ENDPOINT_URL"),
        (
            REGION | KEYS | {"AWS_ENDPOINT_URL": "http://127.0.0.1:1"},
            'Could not connect to the endpoint URL: "http://127.0.0.1:1/": '
            "check the network, AWS_REGION and AWS_ENDPOINT_URL",
        ),
    ],
    ids=["no region", "region", "credentials", "profile", "endpoint", "unreachable"],
)
def test_a_wrong_setting_of_aws_is_named(
    arguments: list[str], variables: dict[str, str], shown: str, tmp_path: Path
) -> None:
    failed = run(arguments, tmp_path, **variables)
    assert (failed.returncode, failed.stdout, failed.stderr) == (3, "", f"runledger: AWS: {shown}\n")


@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda arguments: arguments[0])
def test_an_endpoint_that_is_not_aws_is_named(arguments: list[str], tmp_path: Path) -> None:
    with CannedServer(http("200 OK", b"<html>Sign in")) as other:
        failed = run(arguments, tmp_path, **REGION, **KEYS, AWS_ENDPOINT_URL=other.url)
    assert (failed.returncode, failed.stdout, failed.stderr.count("\n")) == (3, "", 1)
    assert failed.stderr.startswith("runledger: AWS: Unable to parse response")
    assert failed.stderr.endswith(": check AWS_ENDPOINT_URL\n")
