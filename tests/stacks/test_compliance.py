"""Every configuration is clean in cfn-lint and in cdk-nag's AwsSolutions, but for what we accept with a reason."""

import json
import os
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
# Settings that don't exclude each other share a configuration: cfn-lint and cdk-nag look at each resource alone.
EVERYTHING = {
    "stage": "staging",
    "capacity": "provisioned",
    "orphans": "enforce",
    "runner_tags": "runner=yes",
    "runner_regions": "us-east-1,eu-west-1",
    "feeds": True,
    "feed_types": "job.*",
    "notifications": True,
    "releases": True,
    "rebuild_dependents": "enforce",
    "storage_phase": "dynamodb_first",
    "webhook_bucket": "acme-runners",
    "runner_config_bucket": "create",
    "runner_role_ids": "AROAEXAMPLEEXAMPLE123",
}
CONFIGURATIONS: Mapping[str, Mapping[str, object]] = {
    "default": {},
    "everything": EVERYTHING,
    "snap_start": {"snap_start": True, "releases": True},
    "dual_write": {"storage_phase": "dual_write", "webhook_bucket": "acme-runners"},
    "cleanup": {
        "storage_phase": "cleanup",
        "webhook_bucket": "acme-runners",
        "runner_config_bucket": "acme-runners",
        "feeds": True,
    },
}
REGIONS = ("us-east-1", "eu-central-1")


def checked(**context: object) -> cdk.cx_api.CloudAssembly:
    """Raises when cdk-nag finds something."""
    made = app(**context)
    cdk.Validations.of(made).add_plugins(AwsSolutionsChecks(made))
    return made.synth()


@pytest.fixture(scope="module")
def checked_templates() -> dict[str, str]:
    """Configuration and stack to the template; cdk-nag has checked them."""
    return {
        f"{name}-{stack.stack_name}": json.dumps(stack.template, sort_keys=True)
        for name, context in CONFIGURATIONS.items()
        for stack in checked(**context).stacks
    }


def test_every_configuration_is_clean_in_cdk_nag_and_cfn_lint_in_two_regions(
    checked_templates: dict[str, str], tmp_path: Path
) -> None:
    """Stacks name no region: the same templates are deployed in each, so cfn-lint checks them for each."""
    # Four stacks each, and one in the other region with runners.
    assert len(checked_templates) == 4 * len(CONFIGURATIONS) + 1
    # Templates that are the same in several configurations are linted once.
    different = {template: name for name, template in checked_templates.items()}
    for template, name in different.items():
        (tmp_path / f"{name}.template.json").write_text(template)
    cfn_lint = Path(sys.executable).with_name("cfn-lint")
    found = subprocess.run(
        [cfn_lint, "--regions", *REGIONS, "--", f"{tmp_path}/*.template.json"],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
    )
    assert (found.returncode, found.stdout) == (0, "")


def test_every_setting_is_clean_in_the_validation_that_a_deployment_runs() -> None:
    """Runs in a process of its own, because other tests run without validation. `cdk.json` makes findings errors."""
    synthesise = "import json, sys; from tests.support.synthesis import app; app(**json.loads(sys.argv[1])).synth()"
    found = subprocess.run(
        [sys.executable, "-c", synthesise, json.dumps(EVERYTHING)],
        cwd=ROOT,
        env=os.environ | {"CDK_VALIDATION": "true", "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        check=False,
        capture_output=True,
        text=True,
    )
    assert found.returncode == 0, found.stderr


def test_cdk_nag_would_find_what_we_accept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compliance, "accept", lambda *_: None)
    with pytest.raises(RuntimeError, match="ValidationFailed"):
        checked()
