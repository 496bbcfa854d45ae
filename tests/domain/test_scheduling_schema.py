"""The published schema of scheduling events takes the document's examples, and names the field of a bad one."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator, ValidationError
from referencing import Registry, Resource

DOCS = Path(__file__).parent.parent.parent / "docs"
SCHEMA = json.loads((DOCS / "scheduling-event.v1.schema.json").read_text())
DOCUMENT = (DOCS / "scheduling-events.md").read_text()
TYPES = ("runner_scheduled", "runner_rescheduled", "runner_attached", "runner_terminated")
REGISTRY: Registry[Any] = Resource.from_contents(SCHEMA) @ Registry()
TASK = "arn:aws:ecs:eu-west-1:123456789012:task/runners/0f9de17a6465404e8b1b2356dc13c2f8"


def section(detail_type: str) -> str:
    return DOCUMENT.partition(f"\n## {detail_type}\n")[2].partition("\n## ")[0]


def example(detail_type: str) -> dict[str, Any]:
    (block,) = re.findall(r"```json\n(.*?)```", section(detail_type), re.DOTALL)
    found: dict[str, Any] = json.loads(block)
    return found


def errors(detail_type: str, detail: Any) -> list[ValidationError]:
    reference = {"$ref": f"{SCHEMA['$id']}#/$defs/{detail_type}"}
    return list(Draft202012Validator(reference, registry=REGISTRY).iter_errors(detail))


def field_of(error: ValidationError) -> str:
    """The last of its path, or the name that a missing field would have."""
    return str(error.path[-1]) if error.path else error.message.split("'")[1]


def changed(detail_type: str, **fields: Any) -> dict[str, Any]:
    """The example with `fields`; one that is given as ... is left out."""
    return {name: value for name, value in (example(detail_type) | fields).items() if value is not ...}


def test_the_schema_is_a_valid_json_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$defs"].keys() >= set(TYPES)


@pytest.mark.parametrize("detail_type", TYPES)
def test_the_example_of_each_type_fits_and_is_published_as_such(detail_type: str) -> None:
    assert errors(detail_type, example(detail_type)) == []
    assert f'DetailType: "{detail_type}"' in section(detail_type)
    assert f"--rawfile detail {detail_type}.json" in section(detail_type)


def test_every_field_is_explained_and_shown() -> None:
    explained = DOCUMENT.partition("\n## The fields\n")[2].partition("\n## ")[0]
    shown = {name for detail_type in TYPES for name in example(detail_type)}
    for name in SCHEMA["properties"]:
        assert f"`{name}`" in explained
        assert name in shown


@pytest.mark.parametrize(
    ("detail_type", "fields"),
    [
        (
            "runner_scheduled",
            {"version": 1, "installation_id": 0, "job_id": 1, "kind": "ec2", "runner_id": "i-1a2b3c4d"},
        ),
        ("runner_attached", {"version": 1, "installation_id": 41, "kind": "ecs", "runner_id": TASK}),
        ("runner_terminated", {"version": 1, "installation_id": 2**63 - 1, "kind": "ecs", "runner_id": TASK}),
    ],
)
def test_an_event_with_only_its_required_fields_is_valid(detail_type: str, fields: dict[str, Any]) -> None:
    assert errors(detail_type, fields) == []


def test_a_launcher_may_add_fields_of_its_own() -> None:
    assert errors("runner_scheduled", changed("runner_scheduled", launcher={"name": "mine", "build": 7})) == []


@pytest.mark.parametrize("detail_type", TYPES)
@pytest.mark.parametrize("name", ["version", "installation_id", "kind", "runner_id"])
def test_a_missing_field_is_named(detail_type: str, name: str) -> None:
    assert [field_of(error) for error in errors(detail_type, changed(detail_type, **{name: ...}))] == [name]


@pytest.mark.parametrize(
    ("detail_type", "fields"),
    [
        ("runner_scheduled", {"job_id": ...}),
        ("runner_rescheduled", {"job_id": ...}),
        ("runner_scheduled", {"version": 2}),
        ("runner_scheduled", {"version": "1"}),
        ("runner_scheduled", {"installation_id": -1}),
        ("runner_scheduled", {"job_id": 2**63}),
        ("runner_scheduled", {"job_id": "29679449526"}),
        ("runner_scheduled", {"job_id": None}),
        ("runner_attached", {"job_id": 1.5}),
        ("runner_scheduled", {"run_id": True}),
        ("runner_scheduled", {"run_attempt": 0}),
        ("runner_scheduled", {"repo_full_name": "octo-repo"}),
        ("runner_scheduled", {"runner_id": ""}),
        ("runner_scheduled", {"runner_id": "i-nothing"}),
        ("runner_scheduled", {"runner_id": TASK}),
        ("runner_rescheduled", {"runner_id": "i-0d7d7144971263874"}),
        ("runner_rescheduled", {"runner_id": TASK.replace(":task/", ":service/")}),
        ("runner_rescheduled", {"previous_runner_id": "the other"}),
        ("runner_scheduled", {"kind": "vm"}),
        ("runner_scheduled", {"runner_name": ""}),
        ("runner_scheduled", {"runner_name": "x" * 257}),
        ("runner_scheduled", {"instance_type": None}),
        ("runner_scheduled", {"instance_lifecycle": "reserved"}),
        ("runner_scheduled", {"pool_name": 7}),
        ("runner_scheduled", {"scheduled_at": "yesterday"}),
        ("runner_scheduled", {"scheduled_at": 1736935204}),
        ("runner_attached", {"at": "2025-01-15T10:00:41"}),
        ("runner_scheduled", {"price_per_hour": 0}),
        ("runner_scheduled", {"price_per_hour": -0.1}),
        ("runner_scheduled", {"price_per_hour": 1000.01}),
        ("runner_scheduled", {"price_per_hour": "0.1"}),
        ("runner_terminated", {"reason": ["spot"]}),
        ("runner_scheduled", {"event_id": 12}),
    ],
)
def test_a_bad_field_is_named_and_no_other(detail_type: str, fields: dict[str, Any]) -> None:
    assert {field_of(error) for error in errors(detail_type, changed(detail_type, **fields))} == fields.keys()


@pytest.mark.parametrize("detail", [None, [], "runner", 1])
def test_only_an_object_is_a_detail(detail: Any) -> None:
    assert errors("runner_attached", detail) != []
