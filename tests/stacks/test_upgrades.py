"""What an update of a deployment must not change, and what it must.

The snapshot holds what cannot be changed without losing data: CloudFormation replaces a resource whose logical id or
key changes, and generates a secret again when its template changes. To write it again, run
`PYTHONPATH=layers/domain/python .venv/bin/python -m tests.stacks.test_upgrades`, and look at the difference.
CloudFormation creates or deletes one index of a table in an update, so a release may change at most one of each table.
"""

import json
import shutil
import tarfile
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest

from stacks.constructs import layer
from tests.support.synthesis import FLAGS, Templates, app, of_type, synthesise

SNAPSHOT = Path(__file__).with_name("permanent.json")
KEPT = {
    "AWS::DynamoDB::Table": ("KeySchema", "AttributeDefinitions", "GlobalSecondaryIndexes"),
    "AWS::SecretsManager::Secret": ("GenerateSecretString", "SecretString", "Name", "Description", "KmsKeyId"),
    "AWS::SQS::Queue": ("QueueName", "FifoQueue"),
    "AWS::Events::EventBus": ("Name",),
    "AWS::ApiGatewayV2::Api": ("ProtocolType",),
    "AWS::ApiGatewayV2::Route": ("RouteKey",),
}


def permanent(templates: Templates) -> dict[str, Any]:
    """Stack and logical id to the type and the properties that must stay."""
    return {
        f"{stack}/{name}": {"Type": each["Type"]}
        | {key: each["Properties"][key] for key in KEPT[each["Type"]] if key in each["Properties"]}
        for stack, template in templates.items()
        for name, each in template["Resources"].items()
        if each["Type"] in KEPT
    }


def test_what_holds_data_keeps_its_logical_id_keys_indexes_and_generated_secret(templates: Templates) -> None:
    assert permanent(templates) == json.loads(SNAPSHOT.read_text())


def test_the_snapshot_has_both_generated_secrets() -> None:
    kept = json.loads(SNAPSHOT.read_text()).values()
    assert len([each for each in kept if "GenerateSecretString" in each]) == 2


def test_the_github_app_s_key_is_never_part_of_a_template() -> None:
    """CloudFormation writes the value again when it changes, so it must stay what the first deployment wrote."""
    kept = json.loads(SNAPSHOT.read_text()).values()
    assert [each["SecretString"] for each in kept if "SecretString" in each] == ["{}"]


def test_every_feature_flag_of_the_installed_cdk_is_decided() -> None:
    """A flag that is decided after the first release may replace resources of those who have deployed."""
    (bundle,) = (Path(cdk.__file__).parent / "_jsii").glob("aws-cdk-lib@*.jsii.tgz")
    with tarfile.open(bundle) as package:
        flags = package.extractfile("package/recommended-feature-flags.json")
        assert flags
        recommended = json.load(flags)
    # Exports suit tables and queues, which stay; what may go is referred to weakly.
    assert recommended | {"@aws-cdk/core:defaultCrossStackReferences": "strong"} == FLAGS


def versions(templates: Templates) -> set[str]:
    return set(of_type(templates["api"], "AWS::Lambda::Version"))


def test_with_snap_start_a_changed_layer_publishes_new_versions(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """All code is in layers: without a new version, the alias would serve the old code for ever."""
    before = versions(synthesise(snap_start=True))
    changed = shutil.copytree(layer.LAYERS, tmp_path / "layers")
    with (changed / "domain" / "python" / "runledger" / "intake.py").open("a") as file:
        file.write("# changed\n")
    monkeypatch.setattr(layer, "LAYERS", changed)
    assert len(before) == 2
    assert versions(synthesise(snap_start=True)) & before == set()


def test_layers_go_with_their_stack_and_a_failed_first_deployment_leaves_no_queue_or_secret(
    templates: Templates,
) -> None:
    policies: dict[str, set[str | None]] = {}
    for template in templates.values():
        for each in template["Resources"].values():
            policies.setdefault(each["Type"], set()).add(each.get("DeletionPolicy"))
    assert policies["AWS::Lambda::LayerVersion"] <= {None, "Delete"}
    assert policies["AWS::SQS::Queue"] == policies["AWS::SecretsManager::Secret"] == {"RetainExceptOnCreate"}
    assert policies["AWS::DynamoDB::Table"] == {"Retain"}


if __name__ == "__main__":
    SNAPSHOT.write_text(json.dumps(permanent(synthesise()), indent=1, sort_keys=True) + "\n")


def test_stacks_carry_the_tags_by_which_they_are_found() -> None:
    for stack in app(stage="staging").synth().stacks:
        assert stack.tags == {"application": "runledger", "stage": "staging"}
