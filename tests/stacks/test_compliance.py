"""Production is clean in cfn-lint and in cdk-nag's AwsSolutions, but for what we accept with a reason."""

import json
import subprocess
import sys
from pathlib import Path

import aws_cdk as cdk
import pytest
from cdk_nag import AwsSolutionsChecks

from stacks import compliance
from tests.synthesis import Templates, app

ROOT = Path(__file__).parent.parent.parent


def test_templates_are_clean_in_cfn_lint(templates: Templates, tmp_path: Path) -> None:
    for name, template in templates.items():
        (tmp_path / f"{name}.template.json").write_text(json.dumps(template))
    cfn_lint = Path(sys.executable).with_name("cfn-lint")
    linted = subprocess.run(
        [cfn_lint, f"{tmp_path}/*.template.json"], cwd=ROOT, check=False, capture_output=True, text=True
    )
    assert (linted.returncode, linted.stdout) == (0, "")


def synthesise_checked() -> None:
    production = app()
    cdk.Validations.of(production).add_plugins(AwsSolutionsChecks(production))
    production.synth()


def test_production_is_clean_in_cdk_nag() -> None:
    synthesise_checked()


def test_cdk_nag_would_find_what_we_accept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compliance, "accept", lambda *_: None)
    with pytest.raises(RuntimeError, match="ValidationFailed"):
        synthesise_checked()
