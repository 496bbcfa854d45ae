"""`runledger migrate`: imports stored webhooks, and continues where an earlier import was interrupted."""

from __future__ import annotations

import os
from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from runledger.migration.importing import Import
from runledger.migration.objects import Skipped, StoredWebhook
from runledger.migration.webhook_groups import Group, Handled, JobWebhooks, grouped
from runledger.model import times

from runledger_cli.migration.access import Access
from runledger_cli.migration.marker import Marker
from runledger_cli.migration.processing import Processing, Rate
from runledger_cli.migration.progress import Progress
from runledger_cli.migration.result import note_unreadable, show_counts, unreadable_as_json

if TYPE_CHECKING:
    from runledger_cli.session import Session

COUNTS = (
    *(Handled.IMPORTED, Handled.ALREADY_RECORDED, Handled.EXPIRED, Handled.ARCHIVED, Handled.OTHER_KEYS),
    *Skipped,
    *(Handled.GONE, Handled.UNREADABLE),
)
GROUPS_BETWEEN_MARKERS = 25
CONTINUE = ". Run the same command again to continue where it stopped"


class Importing:
    def __init__(self, session: Session, access: Access) -> None:
        self._session = session
        self._access = access
        self._is_dry_run = bool(session.options.dry_run)
        self._marker = Marker.of(access.identity, os.environ)
        resumes = not self._is_dry_run and not session.options.restart
        before = self._marker.load() if resumes else {}
        self._after: str | None = before.get("after")
        self._resumed_after = self._after
        self._counts: Counter[str] = Counter(before.get("counts", {}))
        self._unreadable: list[tuple[str, str]] = [(key, why) for key, why in before.get("unreadable", [])]
        self._groups = 0

    def run(self) -> int:
        listed = self._access.source.listed
        if self._after is not None:
            self._session.screen.note(f"runledger: continuing after {self._after}")
        pattern = self._access.pattern
        matching = sum(isinstance(each, StoredWebhook) for each in listed(pattern, after=self._after))
        self._progress = Progress(self._session.screen, matching)
        work = Import(
            source=self._access.source,
            selection=self._access.selection,
            ledger=self._access.ledger,
            retention_days=self._access.retention_days,
            now=times.normalised(datetime.now(UTC).isoformat()),
            is_dry_run=self._is_dry_run,
        )
        rate = Rate(self._session.options.rate, self._session.pause)
        try:
            Processing(work.run, self._done, rate).run(grouped(listed(pattern, after=self._after)))
        except BaseException:
            self._save()
            self._session.screen.note(f"runledger: the import was interrupted{CONTINUE}")
            raise
        if not self._is_dry_run:
            self._marker.remove()
        self._report()
        return 1 if self._counts[Handled.UNREADABLE] else 0

    def _done(self, group: Group, result: JobWebhooks) -> None:
        self._counts += result.counts
        self._unreadable += result.unreadable
        self._progress.add(len(group.listed))
        if group.listed:
            self._after = group.last_key
        self._groups += 1
        if self._groups % GROUPS_BETWEEN_MARKERS == 0:
            self._save()

    def _save(self) -> None:
        if self._after is not None and not self._is_dry_run:
            self._marker.save({"after": self._after, "counts": self._counts, "unreadable": self._unreadable})

    def _report(self) -> None:
        screen = self._session.screen
        counts = {str(name): self._counts[name] for name in COUNTS}
        if screen.as_json:
            more: dict[str, Any] = {"dry_run": self._is_dry_run, "resumed_after": self._resumed_after}
            screen.document({**counts, **more, "unreadable_objects": unreadable_as_json(self._unreadable)})
            return
        show_counts(screen, counts)
        if self._is_dry_run:
            screen.note("runledger: dry run, nothing was written")
        note_unreadable(screen, self._unreadable)


def run(session: Session) -> int:
    access = Access.of(session.options, os.environ)
    with access.failures_reported():
        return Importing(session, access).run()
