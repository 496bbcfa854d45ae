"""The context of a command, and requests that several commands share."""

from __future__ import annotations

import sys
import time
from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from runledger_cli.errors import CommandError, UsageError

if TYPE_CHECKING:
    from runledger_cli.api import Api
    from runledger_cli.screen import Screen


@dataclass(slots=True, kw_only=True)
class Session:
    """`connect` is called at the first API call: commands that create tokens need no API."""

    options: Namespace
    connect: Callable[[], Api]
    screen: Screen
    pause: Callable[[float], None] = time.sleep
    _api: Api | None = field(default=None, init=False)

    @property
    def api(self) -> Api:
        if self._api is None:
            self._api = self.connect()
        return self._api

    @property
    def has_response(self) -> bool:
        """Whether the API has responded, so that the command may read or render a response."""
        return self._api is not None and self._api.has_responded

    def installation(self) -> int:
        """The installation from the options, or the only one. Never picks one of several."""
        if self.options.installation is not None:
            return int(self.options.installation)
        visible = self.api.get("installations")["items"]
        if not visible:
            raise CommandError("no installations yet: one appears with its first webhook")
        if len(visible) > 1:
            listed = ", ".join(f"{each['installation_id']} ({each.get('org_name') or '-'})" for each in visible)
            raise UsageError(f"there are {len(visible)} installations: choose one with --installation: {listed}")
        return int(visible[0]["installation_id"])

    def path(self, *rest: object) -> tuple[object, ...]:
        """The path of a resource in the installation."""
        return ("installations", self.installation(), *rest)

    def instant(self, text: str | None) -> str | None:
        """Interprets a time without a zone in the zone that the output uses.

        Other values, such as `24h` or an invalid time, are left to the API.
        """
        try:
            moment = datetime.fromisoformat(text or "")
            if moment.tzinfo is None:
                zone = self.screen.style.zone
                moment = moment.replace(tzinfo=zone) if zone else moment.astimezone()
            utc = moment.astimezone(UTC)
        except (ValueError, OverflowError):  # the latter: the first or last hours that a datetime can have
            return text
        return utc.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"

    def confirm(self, action: str, question: str) -> None:
        """Raises unless the user confirms. Without a terminal the user can't, and needs --yes."""
        if not sys.stdin.isatty():
            raise UsageError(f"{action} requires confirmation: add --yes if there is no terminal")
        self.screen.note(f"{question} [y/N]")
        if sys.stdin.readline().strip().lower() not in ("y", "yes"):
            raise CommandError("cancelled: nothing was changed")

    def find(self, url: str) -> dict[str, Any]:
        """The job or run that a GitHub URL identifies."""
        return self.api.get("jobs", "lookup", url=url)
