"""Lambda functions of the templates, and the statements of their roles."""

from typing import Any

from tests.support.synthesis import Template, Templates, of_type


def functions(templates: Templates) -> dict[str, tuple[Template, dict[str, Any]]]:
    return {
        output.removesuffix("Function"): (
            template,
            template["Resources"][template["Outputs"][output]["Value"]["Ref"]]["Properties"],
        )
        for template in templates.values()
        for output in template.get("Outputs", {})
        if output.endswith("Function")
    }


def statements(template: Template, role: str) -> list[dict[str, Any]]:
    return [
        statement
        for kind in ("AWS::IAM::Policy", "AWS::IAM::ManagedPolicy")
        for policy in of_type(template, kind).values()
        if {"Ref": role} in policy.get("Roles", [])
        for statement in policy["PolicyDocument"]["Statement"]
    ]


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
