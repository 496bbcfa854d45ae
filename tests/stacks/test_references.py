"""What one stack needs of another, in a form that CloudFormation can resolve and that blocks no update."""

import json
import re

import pytest

from tests.support.synthesis import Template, Templates

STACKS = ("data", "events", "api", "observability")
# CloudFormation resolves each with a call of its own, and throttles when there are many.
MOST_LOOKED_UP = 20
# Kept for good, so an export of them is never in the way: see the snapshot of their logical ids.
PERMANENT = {
    "AWS::DynamoDB::Table": {"Ref", "Arn"},
    "AWS::SQS::Queue": {"Ref", "Arn", "QueueName"},
    "AWS::ApiGatewayV2::Api": {"Ref"},
}


def exports(template: Template) -> dict[str, tuple[str, str]]:
    """Export name to the resource and attribute that it exports."""
    found = {}
    for output in template.get("Outputs", {}).values():
        if "Export" in output:
            value = output["Value"]
            name = value["Ref"] if "Ref" in value else value["Fn::GetAtt"][0]
            found[output["Export"]["Name"]] = (name, "Ref" if "Ref" in value else value["Fn::GetAtt"][1])
    return found


@pytest.mark.parametrize("name", STACKS)
def test_a_template_looks_up_few_outputs_of_other_stacks(templates: Templates, name: str) -> None:
    assert json.dumps(templates[name]).count('"Fn::GetStackOutput"') <= MOST_LOOKED_UP


@pytest.mark.parametrize("name", STACKS)
def test_exports_depend_on_the_stack_alone_and_not_on_who_imports_them(templates: Templates, name: str) -> None:
    """An export that ends with its last use blocks the update: the importing stack is updated later."""
    resources = templates[name]["Resources"]
    assert sorted(exports(templates[name]).values()) == sorted(
        (resource, attribute)
        for resource, definition in resources.items()
        for attribute in PERMANENT.get(definition["Type"], ())
    )


def test_everything_imported_is_exported(templates: Templates) -> None:
    imported = set(re.findall(r'"Fn::ImportValue": "([^"]+)"', json.dumps(templates)))
    assert imported
    assert imported <= {name for template in templates.values() for name in exports(template)}
