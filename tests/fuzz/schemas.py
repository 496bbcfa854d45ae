"""Random values that match a JSON Schema, as far as GitHub's webhooks and our scheduling events use its keywords."""

import functools
import json
from random import Random
from typing import Any

from local import ROOT
from tests.support.webhooks import DEPLOYMENT, INSTALLATION, JOB, REPO, RUN

GITHUBS = ROOT / "node_modules" / "@octokit" / "webhooks-schemas" / "schema.json"
LARGEST_ID = 2**63 - 1
DEEPEST = 8
# Ids of the filled ledger come up often, so that an input meets what is stored.
IDS = (JOB, JOB + 1, JOB + 2, RUN, DEPLOYMENT, INSTALLATION, 0, 1)
TEXTS = ("", "a", "production", "test", "main", "refs/heads/main", "in_progress", "\u00e4\U0001f4a9", "x" * 300)
TIMES = (
    *("2025-01-15T09:59:58Z", "2025-01-15T10:00:00Z", "2025-01-15T10:02:30Z", "2025-01-15T10:12:45Z"),
    *("2025-01-15T10:00:00.123Z", "2025-01-15T11:00:00+01:00", "2025-06-01T00:00:00Z", "1970-01-01T00:00:00Z"),
)
FORMATS = {
    "date-time": TIMES,
    "uri": ("https://github.com/acme/web", "https://api.github.com/repos/acme/web/actions/jobs/1"),
    "uri-template": ("https://api.github.com/repos/acme/web{/sha}",),
    "email": ("octocat@github.com",),
}
SCALARS: dict[str, tuple[Any, ...]] = {
    "integer": (*IDS, 2, 2**40 + 7, LARGEST_ID),
    "number": (0, 1, 0.25, 10**6),
    "boolean": (True, False),
    "null": (None,),
}
# Texts whose form GitHub's schemas don't describe.
NAMED = {
    "full_name": (REPO, "acme/web", "o/.github"),
    "runner_name": ("runs-on--i-0abc1234def567890--x", "office-1", "i-0abc1234def567890", ""),
}

Schema = dict[str, Any]


class Document:
    def __init__(self, document: Schema) -> None:
        self._document = document

    def definition(self, name: str) -> Schema:
        found: Schema = self._document["definitions"][name]
        return found

    def value(self, schema: Schema, random: Random, *, name: str = "", depth: int = 0) -> Any:
        schema = self._resolved(schema)
        if "const" in schema or "enum" in schema:
            return random.choice(schema.get("enum") or [schema["const"]])
        if alternatives := schema.get("oneOf") or schema.get("anyOf"):
            return self.value(random.choice(alternatives), random, name=name, depth=depth)
        kind = schema.get("type", "object" if "properties" in schema else "string")
        match random.choice(kind) if isinstance(kind, list) else kind:
            case "object":
                return self._object(schema, random, depth)
            case "array":
                return self._list(schema, random, name, depth)
            case "string":
                return self._text(schema, random, name)
            case scalar:
                return random.choice(SCALARS[scalar])

    def _list(self, schema: Schema, random: Random, name: str, depth: int) -> list[Any]:
        least = schema.get("minItems", 0)
        most = max(least, min(schema.get("maxItems", 2), 2 if depth < DEEPEST else 0))
        members = schema.get("items", {})
        return [self.value(members, random, name=name, depth=depth + 1) for _ in range(random.randint(least, most))]

    def _object(self, schema: Schema, random: Random, depth: int) -> dict[str, Any]:
        properties = schema.get("properties", {})
        required = set(schema.get("required", ()))
        optional = 0.6 if depth < DEEPEST else 0.0
        found = {
            name: self.value(member, random, name=name, depth=depth + 1)
            for name, member in properties.items()
            if name in required or random.random() < optional
        }
        more = schema.get("additionalProperties")
        if isinstance(more, dict) and depth < DEEPEST:
            found |= {f"more {n}": self.value(more, random, depth=depth + 1) for n in range(random.randint(0, 2))}
        return found

    def _text(self, schema: Schema, random: Random, name: str) -> str:
        choices = FORMATS.get(schema.get("format", "")) or NAMED.get(name) or TEXTS
        return random.choice(choices)

    def _resolved(self, schema: Schema) -> Schema:
        """The schema without references and `allOf`: a later part is more exact than an earlier one."""
        if "$ref" in schema:
            target = self.definition(schema["$ref"].rpartition("/")[2])
            schema = _merged(target, {name: value for name, value in schema.items() if name != "$ref"})
            return self._resolved(schema)
        for part in schema.get("allOf", ()):
            rest = {name: value for name, value in schema.items() if name != "allOf"}
            schema = _merged(rest, self._resolved(part)) | {"allOf": schema["allOf"]}
        return {name: value for name, value in schema.items() if name != "allOf"}


def _merged(first: Schema, second: Schema) -> Schema:
    if "type" in second:
        first = {name: value for name, value in first.items() if name not in ("oneOf", "anyOf")}
    merged = first | second
    if "properties" in first and "properties" in second:
        properties = dict(first["properties"])
        for name, member in second["properties"].items():
            properties[name] = {"allOf": [properties[name], member]} if name in properties else member
        merged["properties"] = properties
    if "required" in first or "required" in second:
        merged["required"] = sorted({*first.get("required", ()), *second.get("required", ())})
    return merged


@functools.cache
def githubs() -> Document:
    return Document(json.loads(GITHUBS.read_text()))


@functools.cache
def variants(event: str) -> tuple[Schema, ...]:
    """The schema of each action of an event."""
    whole = githubs().definition(f"{event}_event")
    return tuple(whole.get("oneOf", (whole,)))


def webhook(event: str, random: Random) -> dict[str, Any]:
    found: dict[str, Any] = githubs().value(random.choice(variants(event)), random)
    return found
