"""Templates as `cdk synth` makes them, without building the layer."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import aws_cdk as cdk

from app import build
from stacks.constructs import layer

ROOT = Path(__file__).parents[2]
FLAGS = {
    name: value
    for name, value in json.loads((ROOT / "cdk.json").read_text())["context"].items()
    if name.startswith("@aws-cdk")
}

Template = Mapping[str, Any]
Templates = Mapping[str, Template]

_synthesised: dict[str, Templates] = {}


def app(**context: object) -> cdk.App:
    return build(cdk.App(context={**FLAGS, "aws:cdk:bundling-stacks": [], **context}), main_region="us-east-1")


def synthesise(**context: object) -> Templates:
    """Stack name (without prefix) to template. Made once for each context, because it takes seconds."""
    key = json.dumps([context, str(layer.LAYERS)], sort_keys=True)
    if key not in _synthesised:
        assembly = app(**context).synth()
        _synthesised[key] = {stack.stack_name.split("-", 2)[2]: stack.template for stack in assembly.stacks}
    return _synthesised[key]


def of_type(template: Template, resource_type: str) -> dict[str, dict[str, Any]]:
    return {
        name: resource["Properties"]
        for name, resource in template["Resources"].items()
        if resource["Type"] == resource_type
    }
