"""Every configuration is clean in cfn-lint and in cdk-nag's AwsSolutions, but for what we accept with a reason."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import aws_cdk as cdk
import pytest
from cdk_nag import AwsSolutionsChecks

from stacks.constructs import compliance
from tests.support.synthesis import app

ROOT = Path(__file__).parent.parent.parent
CONFIGURATIONS: Mapping[str, Mapping[str, object]] = {
    "default": {},
    "snap_start": {"snap_start": True},
    "provisioned": {"capacity": "provisioned"},
    "enforce": {"orphans": "enforce", "runner_tags": "runner=yes"},
    "another-stage": {"stage": "staging"},
    "dual_write": {"storage_phase": "dual_write", "webhook_bucket": "acme-runners"},
    "dynamodb_first": {
        "storage_phase": "dynamodb_first",
        "webhook_bucket": "acme-runners",
        "runner_config_bucket": "create",
        "runner_role_ids": "AROAEXAMPLEEXAMPLE123",
    },
    "cleanup": {"storage_phase": "cleanup", "webhook_bucket": "acme-runners", "runner_config_bucket": "acme-runners"},
    "regions": {"runner_regions": "us-east-1,eu-west-1", "orphans": "enforce", "runner_tags": "runner=yes"},
}
REGIONS = ("us-east-1", "eu-central-1")


def checked(**context: object) -> cdk.cx_api.CloudAssembly:
    """Raises when cdk-nag finds something."""
    made = app(**context)
    cdk.Validations.of(made).add_plugins(AwsSolutionsChecks(made))
    return made.synth()


@pytest.fixture(scope="module")
def linted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The templates of all configurations; cdk-nag has checked them."""
    folder = tmp_path_factory.mktemp("templates")
    for name, context in CONFIGURATIONS.items():
        for stack in checked(**context).stacks:
            (folder / f"{name}-{stack.stack_name}.template.json").write_text(json.dumps(stack.template))
    return folder


def test_every_configuration_is_clean_in_cdk_nag_and_cfn_lint_in_two_regions(linted: Path) -> None:
    """Stacks name no region: the same templates are deployed in each, so cfn-lint checks them for each."""
    cfn_lint = Path(sys.executable).with_name("cfn-lint")
    # Four stacks each, and one in the other region with runners.
    assert len(list(linted.iterdir())) == 4 * len(CONFIGURATIONS) + 1
    found = subprocess.run(
        [cfn_lint, "--regions", *REGIONS, "--", f"{linted}/*.template.json"],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
    )
    assert (found.returncode, found.stdout) == (0, "")


def test_cdk_nag_would_find_what_we_accept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compliance, "accept", lambda *_: None)
    with pytest.raises(RuntimeError, match="ValidationFailed"):
        checked()
