"""The lines of messages about heads, environments and release lines. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any

from runledger.notifications.words import joined, named

Data = Mapping[str, Any]
SHORT_SHA = 7


def head_lines(data: Data, _at: str) -> Iterator[str]:
    yield joined(
        named("branch", data.get("head_branch")),
        named("commit", _short(data.get("head_sha"))),
        named("by", data.get("actor")),
    )
    yield joined(
        named("conclusion", data.get("conclusion")),
        named("run", data.get("run_id")),
        named("since", data.get("since")),
    )


def environment_lines(data: Data, _at: str) -> Iterator[str]:
    current, previous = _section(data, "current"), _section(data, "previous")
    yield joined(
        "rollback" if data.get("is_rollback") else None,
        named("version", current.get("version")),
        named("commit", _short(current.get("head_sha"))),
        named("from", current.get("ref")),
        named("by", current.get("creator")),
    )
    yield joined(
        named("previous version", previous.get("version")),
        named("previous commit", _short(previous.get("head_sha")) if "version" not in previous else None),
    )


def release_lines(data: Data, _at: str) -> Iterator[str]:
    yield joined(named("version", data.get("version")), named("previous version", data.get("previous_version")))
    total, failed = data.get("total_dependents"), data.get("failed_dependents")
    yield joined(
        f"{data.get('finished_dependents', 0)} of {total} dependents finished" if total else None,
        f"{failed} failed" if failed else None,
        "dry run: nothing is rebuilt" if total and data.get("mode") == "dry_run" else None,
    )
    yield joined(data.get("message"))


def _section(data: Data, name: str) -> Data:
    found = data.get(name)
    return found if isinstance(found, Mapping) else {}


def _short(sha: object) -> str | None:
    return str(sha)[:SHORT_SHA] if sha else None
