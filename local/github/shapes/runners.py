"""Self-hosted runners."""

from typing import Any

from local.github.records import Runner
from local.github.shapes.accounts import id_of

GIVEN_BY_GITHUB = {"self-hosted", "linux", "macos", "windows", "x64", "arm64"}


def runner(of: Runner) -> dict[str, Any]:
    return {
        "id": of.id,
        "runner_group_id": of.runner_group_id,
        "name": of.name,
        "os": of.os,
        "status": of.status,
        "busy": of.busy,
        "ephemeral": of.ephemeral,
        "labels": [_label(name) for name in of.labels],
    }


def _label(name: str) -> dict[str, Any]:
    return {"id": id_of(name), "name": name, "type": "read-only" if name.lower() in GIVEN_BY_GITHUB else "custom"}
