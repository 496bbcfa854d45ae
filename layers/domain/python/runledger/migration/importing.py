"""Imports stored webhooks as live intake records them, but sends no lookups and no re-run checks.

A webhook that the ledger already has isn't recorded again. So you can repeat or interrupt an import, run two imports
at the same time, and import while live webhooks arrive. The webhooks of a job are imported in the order in which they
were received.
"""

from collections import Counter

from runledger.migration import webhook_groups
from runledger.migration.objects import Selection
from runledger.migration.stored import Source
from runledger.migration.webhook_groups import Group, Handled, JobWebhooks
from runledger.model.dataclass import dataclass
from runledger.model.inputs import Receipt
from runledger.recording.decision import decide
from runledger.recording.ledger import Ledger


@dataclass(frozen=True, kw_only=True)
class Import:
    """`now` is the time of the import: jobs that have expired by then are skipped."""

    source: Source
    selection: Selection
    ledger: Ledger
    retention_days: int
    now: str
    is_dry_run: bool = False

    def run(self, group: Group) -> JobWebhooks:
        """Safe to repeat. Raises UnavailableError, or an AWS error, if it wasn't completed."""
        total = JobWebhooks(receipts=[], counts=Counter())
        for job in webhook_groups.read(group, self.source, self.selection):
            total.counts += job.counts
            total.unreadable += job.unreadable
            if job.is_expired(self.now, self.retention_days):
                total.counts[Handled.EXPIRED] += len(job.receipts)
            else:
                total.counts += Counter(map(self._import, job.receipts))
        return total

    def _import(self, receipt: Receipt) -> Handled:
        job = self.ledger.jobs.get(receipt.installation_id, receipt.job_id)
        if job is not None and decide(job, receipt).job is job:
            return Handled.ALREADY_RECORDED
        if not self.is_dry_run:
            self.ledger.record(receipt)
        return Handled.IMPORTED
