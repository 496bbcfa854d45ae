"""Reads the stored webhooks of a job together, in the order in which they were received."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import field
from enum import StrEnum

from runledger.migration.objects import Selection, Skipped, StoredWebhook, check_size, receipt_of
from runledger.migration.stored import Archived, OtherKey, Source
from runledger.model import times
from runledger.model.dataclass import dataclass
from runledger.model.errors import Rejection
from runledger.model.inputs import Receipt

# Further keys of a job start a new group, because a pattern may assign every key to one job.
LARGEST_GROUP = 200


class Handled(StrEnum):
    """What became of a stored webhook, besides `Skipped`."""

    IMPORTED = "imported"
    ALREADY_RECORDED = "already_recorded"
    EXPIRED = "expired"
    ARCHIVED = "archived"
    OTHER_KEYS = "other_keys"
    GONE = "gone"
    UNREADABLE = "unreadable"


@dataclass(kw_only=True)
class Group:
    """`listed` are consecutive objects of one job in the list of keys."""

    listed: list[StoredWebhook]
    other_keys: int = 0

    @property
    def last_key(self) -> str:
        return self.listed[-1].key


@dataclass(kw_only=True)
class JobWebhooks:
    """The webhooks of one job that can be imported, and counts of the others by reason."""

    receipts: list[Receipt]
    counts: Counter[str]
    unreadable: list[tuple[str, str]] = field(default_factory=list)  # key and reason

    def is_expired(self, now: str, retention_days: int) -> bool:
        """A job's retention starts at its last change, so the newest webhook decides."""
        newest = max((receipt.received_at for receipt in self.receipts), default=now)
        return times.expiry(newest, retention_days) < times.expiry(now, 0)


def grouped(listed: Iterable[StoredWebhook | OtherKey]) -> Iterator[Group]:
    """Other keys are counted in the next group, or in an empty group at the end."""
    group = Group(listed=[])
    for found in listed:
        if isinstance(found, OtherKey):
            group.other_keys += 1
            continue
        if group.listed and (group.listed[-1].job != found.job or len(group.listed) >= LARGEST_GROUP):
            yield group
            group = Group(listed=[])
        group.listed.append(found)
    if group.listed or group.other_keys:
        yield group


def read(group: Group, source: Source, selection: Selection) -> list[JobWebhooks]:
    """Grouped by job. If the key doesn't name the job, the body does."""
    counts: Counter[str] = Counter({Handled.OTHER_KEYS: group.other_keys})
    whole = JobWebhooks(receipts=[], counts=counts)
    by_job: dict[tuple[int, int], list[Receipt]] = {}
    for stored in group.listed:
        if stored.archived:
            counts[Handled.ARCHIVED] += 1
            continue
        try:
            check_size(stored.size)
            found = source.read(stored)
            receipt = receipt_of(*found, selection) if found else Handled.GONE
        except Rejection as rejection:
            counts[Handled.UNREADABLE] += 1
            whole.unreadable.append((stored.key, str(rejection)))
            continue
        except Archived:
            counts[Handled.ARCHIVED] += 1
            continue
        if isinstance(receipt, Skipped | Handled):
            counts[receipt] += 1
        else:
            by_job.setdefault((receipt.installation_id, receipt.job_id), []).append(receipt)
    jobs = [JobWebhooks(receipts=sorted(found, key=_received), counts=Counter()) for found in by_job.values()]
    return [whole, *jobs]


def _received(receipt: Receipt) -> tuple[str, int, bool]:
    """S3's modification times have whole seconds. Within one second, the order of a job's statuses counts."""
    assert receipt.status is not None
    return receipt.received_at, receipt.status.rank, receipt.action == "waiting"
