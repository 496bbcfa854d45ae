"""Templates as `cdk synth` makes them, without building the layer."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import aws_cdk as cdk

from app import build

ROOT = Path(__file__).parent.parent
FLAGS = {
    name: value
    for name, value in json.loads((ROOT / "cdk.json").read_text())["context"].items()
    if name.startswith("@aws-cdk/")
}

Template = Mapping[str, Any]
Templates = Mapping[str, Template]


def app(**context: object) -> cdk.App:
    return build(cdk.App(context={**FLAGS, "aws:cdk:bundling-stacks": [], **context}))


def synthesise(**context: object) -> Templates:
    """Stack name (without prefix) to template."""
    assembly = app(**context).synth()
    return {stack.stack_name.rpartition("-")[2]: stack.template for stack in assembly.stacks}


def of_type(template: Template, resource_type: str) -> dict[str, dict[str, Any]]:
    return {
        name: resource["Properties"]
        for name, resource in template["Resources"].items()
        if resource["Type"] == resource_type
    }
