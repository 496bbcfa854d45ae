"""`runledger verify`: compares stored webhooks with the ledger, job by job."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from runledger.migration import webhook_groups
from runledger.migration.comparison import Difference, differences
from runledger.migration.objects import Skipped, StoredWebhook
from runledger.migration.webhook_groups import Group, Handled, grouped
from runledger.model import times

from runledger_cli.migration.access import Access
from runledger_cli.migration.processing import Processing, Rate
from runledger_cli.migration.progress import Progress
from runledger_cli.migration.result import LISTED_AT_MOST, note_unreadable, show_counts, unreadable_as_json
from runledger_cli.rendering.formatting import printable

if TYPE_CHECKING:
    from runledger_cli.session import Session

SAME, DIFFERING = "matching_jobs", "differing_jobs"
COUNTS = (
    *(SAME, DIFFERING, Handled.EXPIRED, Handled.ARCHIVED, Handled.OTHER_KEYS),
    *Skipped,
    *(Handled.GONE, Handled.UNREADABLE),
)


@dataclass
class Compared:
    counts: Counter[str] = field(default_factory=Counter)
    found: list[Difference] = field(default_factory=list)
    unreadable: list[tuple[str, str]] = field(default_factory=list)

    def add(self, other: Compared) -> None:
        self.counts += other.counts
        self.found += other.found
        self.unreadable += other.unreadable


def run(session: Session) -> int:
    access = Access.of(session.options, os.environ)
    now = times.normalised(datetime.now(UTC).isoformat())
    total = Compared()
    with access.failures_reported():
        listed = access.source.listed
        matching = sum(isinstance(each, StoredWebhook) for each in listed(access.pattern))
        progress = Progress(session.screen, matching)

        def done(group: Group, compared: Compared) -> None:
            total.add(compared)
            progress.add(len(group.listed))

        rate = Rate(session.options.rate, session.pause)
        Processing(lambda group: compare(group, access, now), done, rate).run(grouped(listed(access.pattern)))
    _report(session, total)
    return 1 if total.found or total.unreadable else 0


def compare(group: Group, access: Access, now: str) -> Compared:
    compared = Compared()
    for job in webhook_groups.read(group, access.source, access.selection):
        compared.counts += job.counts
        compared.unreadable += job.unreadable
        if not job.receipts:
            continue
        if job.is_expired(now, access.retention_days):
            compared.counts[Handled.EXPIRED] += len(job.receipts)
            continue
        first = job.receipts[0]
        recorded = access.ledger.jobs.get(first.installation_id, first.job_id)
        found = list(differences(job.receipts, recorded))
        compared.counts[DIFFERING if found else SAME] += 1
        compared.found += found
    return compared


def _report(session: Session, total: Compared) -> None:
    screen = session.screen
    counts = {str(name): total.counts[name] for name in COUNTS}
    if screen.as_json:
        found = [difference.as_json() for difference in total.found]
        screen.document({**counts, "differences": found, "unreadable_objects": unreadable_as_json(total.unreadable)})
        return
    # The values come from stored objects, so the API client hasn't removed colour placeholders from them.
    screen.show(printable(difference) for difference in total.found[:LISTED_AT_MOST])
    if len(total.found) > LISTED_AT_MOST:
        screen.show([f"and {len(total.found) - LISTED_AT_MOST} more differences: use --json to list them"])
    show_counts(screen, counts)
    note_unreadable(screen, total.unreadable)
