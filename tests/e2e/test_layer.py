"""The layer alone is enough: the emulated AWS runs functions in our environment, which would hide what is missing."""

import json
import marshal
import subprocess
import sys
import sysconfig
from importlib.util import cache_from_source
from pathlib import Path

import pytest

from local.aws.outputs import Outputs
from tests.support.settings import SETTINGS

PYC_HEADER_BYTES = 16
PACKAGES = {"runledger", "runledger_github", "runledger_api"}
BROUGHT_BY_LAMBDA = ("boto3", "botocore", "s3transfer", "jmespath", "dateutil", "urllib3", "six.py")


FUNCTIONS = {
    "webhook_intake": ("runledger",),
    "webhook_retry": ("runledger",),
    "scheduling_events": ("runledger",),
    "spot_interruption": ("runledger",),
    "instance_state": ("runledger",),
    "runner_lookup": ("runledger",),
    "run_retry": ("runledger", "runledger_github"),
    "reconciler": ("runledger", "runledger_github"),
    "github_requests": ("runledger", "runledger_github"),
    "api": ("runledger", "runledger_api"),
}
# The wiring of the first call loads the rest, without any network call.
GITHUB = "import jwt, cryptography.hazmat.primitives.asymmetric.rsa, runledger_github.wiring"
LOAD_ALL = {
    "reconciler": f"{GITHUB}, runledger_github.reconciler_wiring",
    "run_retry": GITHUB,
    "github_requests": GITHUB,
    "api": "import api, jwt, cryptography.hazmat.primitives.asymmetric.rsa; api.handler",
}


@pytest.fixture(scope="session")
def layers(outputs: Outputs, deployed_folder: Path) -> dict[str, Path]:
    """The layers by the package of ours in each. The output folder may also have layers of earlier deployments."""
    assert outputs
    manifests = [json.loads(each.read_text()) for each in deployed_folder.glob("cdk.out/*.assets.json")]
    deployed = {asset["source"]["path"] for manifest in manifests for asset in manifest["files"].values()}
    built = [layer for layer in deployed_folder.glob("cdk.out/asset.*/python") if layer.parent.name in deployed]
    return {package.name: layer for layer in built for package in layer.iterdir() if package.name in PACKAGES}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_starts_with_nothing_but_its_layers_and_lambdas_own_boto3(
    layers: dict[str, Path], function: str, tmp_path: Path
) -> None:
    for name in BROUGHT_BY_LAMBDA:
        (tmp_path / name).symlink_to(Path(sysconfig.get_path("purelib")) / name)
    paths = [*(str(layers[package]) for package in FUNCTIONS[function]), str(tmp_path)]
    start = LOAD_ALL.get(function, f"import {function}; {function}.handler")
    started = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path[:0] = {paths!r}; {start}"],
        env=SETTINGS,
        check=False,
        capture_output=True,
        text=True,
    )
    assert (started.returncode, started.stdout, started.stderr) == (0, "", "")


def test_layers_carry_no_second_boto3_and_the_domain_no_cryptography(layers: dict[str, Path]) -> None:
    carried = {name: {each.name for each in layer.iterdir()} for name, layer in layers.items()}
    assert {"runledger", "aws_lambda_powertools"} <= carried["runledger"]
    assert {"runledger_github", "jwt", "cryptography"} <= carried["runledger_github"]
    assert not {"boto3", "botocore", "pydantic", "cryptography"} & carried["runledger"]
    assert not {"boto3", "botocore", "urllib3"} & carried["runledger_github"]
    assert {"runledger_api", "pydantic", "pydantic_core", "jwt", "cryptography"} <= carried["runledger_api"]
    assert not {"boto3", "botocore", "aws_lambda_powertools", "urllib3"} & carried["runledger_api"]


def test_layers_are_compiled_under_the_names_that_their_files_have_on_lambda(layers: dict[str, Path]) -> None:
    """So that tracebacks there find the lines."""
    for name, layer in layers.items():
        compiled = cache_from_source(str(layer / name / "__init__.py"))
        code = marshal.loads(Path(compiled).read_bytes()[PYC_HEADER_BYTES:])  # noqa: S302
        assert code.co_filename == f"/opt/python/{name}/__init__.py"
