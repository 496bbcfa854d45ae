"""Stores where an interrupted import continues, in a file that is removed when the import is complete."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Marker:
    file: Path

    @classmethod
    def of(cls, identity: str, environment: Mapping[str, str]) -> Marker:
        home = Path(environment.get("HOME") or "~").expanduser()
        state = Path(environment.get("XDG_STATE_HOME") or home / ".local" / "state")
        return cls(file=state / "runledger" / f"migrate-{identity}.json")

    def load(self) -> dict[str, Any]:
        """Empty if no import was interrupted, or if the file can't be read: an import can always start again."""
        try:
            found = json.loads(self.file.read_text())
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) and isinstance(found.get("after"), str) else {}

    def save(self, values: Mapping[str, Any]) -> None:
        """Two imports of the same source may run at the same time: each replaces the file as a whole."""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=self.file.parent, prefix=f".{self.file.name}.")
        with os.fdopen(descriptor, "w") as new:
            json.dump(values, new)
        os.replace(name, self.file)

    def remove(self) -> None:
        self.file.unlink(missing_ok=True)
