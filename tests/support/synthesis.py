"""Templates as `cdk synth` makes them, without building the layer."""

import fcntl
import hashlib
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

# A folder of this test run, if its tests run in several processes.
shared: Path | None = None
_synthesised: dict[str, Templates] = {}


def app(**context: object) -> cdk.App:
    return build(cdk.App(context={**FLAGS, "aws:cdk:bundling-stacks": [], **context}), main_region="us-east-1")


def synthesise(**context: object) -> Templates:
    """Stack name (without prefix) to template. Made once for each context, because it takes seconds."""
    key = json.dumps([context, str(layer.LAYERS)], sort_keys=True)
    if key not in _synthesised:
        _synthesised[key] = _in_one_process(key, context) if shared else _templates(context)
    return _synthesised[key]


def _templates(context: Mapping[str, object]) -> Templates:
    return {stack.stack_name.split("-", 2)[2]: stack.template for stack in app(**context).synth().stacks}


def _in_one_process(key: str, context: Mapping[str, object]) -> Templates:
    """The first process makes the templates, while others that need the same wait for it."""
    assert shared
    file = shared / f"templates-{hashlib.sha256(key.encode()).hexdigest()}.json"
    with file.open("a+") as stored:
        fcntl.flock(stored, fcntl.LOCK_EX)
        stored.seek(0)
        if written := stored.read():
            templates: Templates = json.loads(written)
            return templates
        templates = _templates(context)
        stored.write(json.dumps(templates))
        return templates


def of_type(template: Template, resource_type: str) -> dict[str, dict[str, Any]]:
    return {
        name: resource["Properties"]
        for name, resource in template["Resources"].items()
        if resource["Type"] == resource_type
    }
