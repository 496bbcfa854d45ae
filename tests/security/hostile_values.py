"""Hostile values, and every place of GitHub's payloads at which one can stand."""

import copy
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.support.webhooks import JOB, RUN

Path = tuple[str | int, ...]
LONG, DEEP = 100_000, 500
TOO_MANY_DIGITS, TOO_DEEP = "9" * 10_000, "[" * LONG + "]" * LONG


def nested(depth: int) -> list[Any]:
    found: list[Any] = []
    for _ in range(depth):
        found = [found]
    return found


HOSTILE: dict[str, object] = {
    "null": None,
    "true": True,
    "false": False,
    "zero": 0,
    "negative": -1,
    "one": 1,
    "fraction": 1.5,
    "beyond every clock": 10**18,
    "beyond 64 bits": 10**30,
    "huge": 1e308,
    "NaN": float("nan"),
    "Infinity": float("inf"),
    "-Infinity": float("-inf"),
    "empty text": "",
    "a word": "word",
    "digits": "17",
    "long text": "y" * LONG,
    "NUL": "\0",
    "half a character": "\ud83d",
    "every kind of character": "\N{PILE OF POO}\u202e\u200f <script> ${jndi:x} '; --",
    "dot segments": "../..",
    "a year beyond reason": "9999-12-31T23:59:59-14:00",
    "the first year": "0001-01-01T00:00:00+14:00",
    "empty list": [],
    "list of texts": ["word"],
    "list of objects": [{"id": 1}, None, 7],
    "long list": list(range(1000)),
    "deep list": nested(DEEP),
    "empty object": {},
    "object": {"id": -1, "state": {}, "login": []},
}


@dataclass(frozen=True, kw_only=True)
class Case:
    event: str
    message: dict[str, Any]
    path: Path
    value: object

    def body(self, number: int) -> bytes:
        """The body of a delivery about a job and a run of its own, so that neither grows with every case."""
        message = replaced(self.message, self.path, self.value)
        job = message.get("workflow_job")
        for name, first in (("id", JOB), ("run_id", RUN)):
            if isinstance(job, dict) and self.path not in (("workflow_job",), ("workflow_job", name)):
                job[name] = first + number
        return json.dumps(message).encode()


def replaced(message: dict[str, Any], path: Path, value: object) -> dict[str, Any]:
    changed = copy.deepcopy(message)
    put(changed, path, value)
    return changed


def put(message: Any, path: Path, value: object) -> None:
    for step in path[:-1]:
        message = message[step]
    message[path[-1]] = value


def at(message: Any, path: Path) -> Any:
    for step in path:
        message = message[step]
    return message


def paths(value: object, before: Path = ()) -> Iterator[Path]:
    """The paths of every object, list and value; of a list, those in its first entry."""
    if before:
        yield before
    if isinstance(value, dict):
        for name in value:
            yield from paths(value[name], (*before, name))
    elif isinstance(value, list) and value:
        yield from paths(value[0], (*before, 0))


NAMES = {
    "owner/name": True,
    "o/n": True,
    "octo-org/.github": True,
    "octo_corp/a.b_c-d": True,
    "owner/..name": True,
    "owner/...": True,
    "owner/..": False,
    "owner/.": False,
    "../name": False,
    "./name": False,
    "..": False,
    "owner": False,
    "owner/": False,
    "/name": False,
    "owner/name/more": False,
    "owner/na me": False,
    "owner/name\n": False,
    "owner/na#me": False,
    "owner/na%2fme": False,
    "ow.ner/name": False,
    "owner/n\u00e4me": False,
    "owner/\u0663": False,
    "owner/name?x=1": False,
}
