"""The stored webhooks of one job, read together: in the order in which they were received."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from runledger.migration.objects import Selection, Skipped, StoredWebhook, check_size, receipt_of
from runledger.migration.stored import Archived, OtherKey, Source
from runledger.model import times
from runledger.model.errors import Refusal
from runledger.model.inputs import Receipt

ARCHIVED, GONE, OTHER_KEYS, UNREADABLE = "archived", "gone", "other_keys", "unreadable"
# Keys of one job beyond this number become groups of their own: a pattern may put everything into one job.
LARGEST_GROUP = 200


@dataclass(kw_only=True)
class Group:
    """`listed` are the objects of one job that follow each other in the list of keys."""

    listed: list[StoredWebhook]
    other_keys: int = 0

    @property
    def last_key(self) -> str:
        return self.listed[-1].key


@dataclass(kw_only=True)
class JobWebhooks:
    """The webhooks of one job that can be imported, and what became of the others."""

    receipts: list[Receipt]
    counts: Counter[str]
    unreadable: list[tuple[str, str]] = field(default_factory=list)  # key and reason

    def is_expired(self, now: str, retention_days: int) -> bool:
        """The job expires after its last change, so its newest webhook decides."""
        newest = max((receipt.received_at for receipt in self.receipts), default=now)
        return times.expiry(newest, retention_days) < times.expiry(now, 0)


def grouped(listed: Iterable[StoredWebhook | OtherKey]) -> Iterator[Group]:
    """Other keys are counted with the group that follows them, or with an empty one at the end."""
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
    """By job: the body decides which job a webhook belongs to, if the key doesn't name the job."""
    counts: Counter[str] = Counter({OTHER_KEYS: group.other_keys})
    whole = JobWebhooks(receipts=[], counts=counts)
    by_job: dict[tuple[int, int], list[Receipt]] = {}
    for stored in group.listed:
        if stored.archived:
            counts[ARCHIVED] += 1
            continue
        try:
            check_size(stored.size)
            found = source.read(stored)
            receipt = receipt_of(*found, selection) if found else GONE
        except Refusal as refusal:
            counts[UNREADABLE] += 1
            whole.unreadable.append((stored.key, str(refusal)))
            continue
        except Archived:
            counts[ARCHIVED] += 1
            continue
        if isinstance(receipt, Skipped | str):
            counts[receipt] += 1
        else:
            by_job.setdefault((receipt.installation_id, receipt.job_id), []).append(receipt)
    jobs = [JobWebhooks(receipts=sorted(found, key=_received), counts=Counter()) for found in by_job.values()]
    return [whole, *jobs]


def _received(receipt: Receipt) -> tuple[str, int, bool]:
    """Modification times of objects have a resolution of one second: then the order of a job's life counts."""
    assert receipt.status is not None
    return receipt.received_at, receipt.status.rank, receipt.action == "waiting"
