"""Self-hosted runners."""

from typing import Any

from local.github.records import Runner
from local.github.shapes.accounts import id_of

LABELS_SET_BY_GITHUB = {"self-hosted", "linux", "macos", "windows", "x64", "arm64"}


def runner(record: Runner) -> dict[str, Any]:
    return {
        "id": record.id,
        "runner_group_id": record.runner_group_id,
        "name": record.name,
        "os": record.os,
        "status": record.status,
        "busy": record.busy,
        "ephemeral": record.ephemeral,
        "labels": [_label(name) for name in record.labels],
    }


def _label(name: str) -> dict[str, Any]:
    return {"id": id_of(name), "name": name, "type": "read-only" if name.lower() in LABELS_SET_BY_GITHUB else "custom"}
