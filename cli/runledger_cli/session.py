"""What every command has at hand, and the questions that several of them ask."""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from runledger_cli.errors import CommandError, Misuse

if TYPE_CHECKING:
    from runledger_cli.api import Api
    from runledger_cli.screen import Screen


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    options: Namespace
    api: Api
    screen: Screen
    pause: Callable[[float], None] = time.sleep

    def installation(self) -> int:
        """The one that was named, or the only one there is: a guess between two would answer another's question."""
        if self.options.installation is not None:
            return int(self.options.installation)
        visible = self.api.get("installations")["items"]
        if not visible:
            raise CommandError("no installation is known: the first webhook of one makes it known")
        if len(visible) > 1:
            listed = ", ".join(f"{each['installation_id']} ({each.get('org_name') or '-'})" for each in visible)
            raise Misuse(f"there are {len(visible)} installations, choose one with --installation: {listed}")
        return int(visible[0]["installation_id"])

    def instant(self, text: str | None) -> str | None:
        """People type the times that they see, so one without a zone is in the zone that is shown.

        Everything else, `24h` and nonsense alike, is the API's to judge.
        """
        try:
            moment = datetime.fromisoformat(text or "")
        except ValueError:
            return text
        if moment.tzinfo is None:
            zone = self.screen.look.zone
            moment = moment.replace(tzinfo=zone) if zone else moment.astimezone()
        return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"

    def find(self, url: str) -> dict[str, Any]:
        """What is behind an address of GitHub that somebody pasted."""
        return self.api.get("jobs", "lookup", url=url)
