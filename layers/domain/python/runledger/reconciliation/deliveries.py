"""Lost webhooks: GitHub's delivery log lists them, and GitHub redelivers them on request."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, Protocol
from urllib.parse import urlsplit

from runledger.model import times
from runledger.model.dataclass import dataclass
from runledger.model.errors import UnavailableError
from runledger.model.passes import INTERVAL_SECONDS, PassKind
from runledger.model.reports import REDELIVERY_DAYS, WEBHOOK_PATH
from runledger.reconciliation.passes import Pass
from runledger.reconciliation.tally import Count, Tally
from runledger.tables.lost_deliveries import LostDeliveries, LostDelivery, Reading

# 10 minutes, then four times as long after each attempt: six attempts span more than two of the three days.
PAUSE_SECONDS, PAUSE_GROWTH = 600, 4
# The first pass after a long outage must not send thousands of webhooks at once.
REDELIVERED_AT_MOST = 200
# A tenant whose deliveries are rejected must not fill the table, which each full pass reads.
LOST_AT_MOST = 5000
ARRIVED = range(200, 300)
# A malformed or too large body would be rejected again.
REJECTED_PERMANENTLY = {400, 413}
# The secret isn't valid for one tenant's installation or repository: its scope may be corrected within hours. A wrong
# secret (401) affects every tenant, and gets all attempts.
OUT_OF_SCOPE, OUT_OF_SCOPE_ATTEMPTS = 403, 3
OVERLAP_SECONDS = INTERVAL_SECONDS[PassKind.FULL]


class DeliveryPage(Protocol):
    @property
    def deliveries(self) -> Sequence[Mapping[str, Any]]: ...
    @property
    def next_cursor(self) -> str | None: ...


class DeliveryLog(Protocol):
    """The log of the GitHub App, implemented by runledger_github. Roughly newest first."""

    def hook_url(self) -> str: ...
    def hook_deliveries(self, cursor: str | None = None) -> Iterator[DeliveryPage]: ...
    def redeliver(self, delivery_id: int) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryCheck:
    log: DeliveryLog
    lost: LostDeliveries
    at_most: int

    def check(self, current: Pass) -> bool:
        """False if time ran out."""
        leads_here = False
        with current.tally.isolated("the delivery log"):
            leads_here = self._leads_here(current.tally)
            if leads_here and not self._read_log(current):
                return False
        return self._redeliver(current) if leads_here else True

    def _leads_here(self, tally: Tally) -> bool:
        """Whether the log is about this deployment's webhook. Another application would get its redeliveries."""
        url = self.log.hook_url()
        if urlsplit(url).path.rstrip("/").endswith(WEBHOOK_PATH):
            return True
        about = f"the address of the App's webhook, {url or 'none'}, does not end with {WEBHOOK_PATH}"
        tally.findings.append(f"the delivery log: not read, because {about}")
        return False

    def _read_log(self, current: Pass) -> bool:
        """Continues an interrupted walk first, then reads new deliveries. False if time ran out."""
        reading = self.lost.reading()
        if reading.cursor:
            try:
                if not self._walk(reading, current):
                    return False
            except UnavailableError:
                raise
            except Exception as rejection:
                # Cursors expire. The log is read again from its start, down to where an earlier walk ended.
                self.lost.save_reading(Reading(covered_to=reading.covered_to))
                current.tally.findings.append(f"the delivery log: read again from its start, because {rejection}")
        return self._walk(Reading(covered_to=self.lost.reading().covered_to), current)

    def _walk(self, reading: Reading, current: Pass) -> bool:
        """Reads down to where an earlier walk ended, with an overlap: rows may appear late, and ids have no order.

        False if time ran out. The next pass continues.
        """
        oldest = times.earlier(current.now, seconds=REDELIVERY_DAYS * times.SECONDS_PER_DAY)
        if reading.covered_to:
            oldest = max(oldest, times.earlier(reading.covered_to, seconds=OVERLAP_SECONDS))
        walk, cursor = Walk(newest=reading.newest), reading.cursor
        try:
            for page in self.log.hook_deliveries(cursor):
                fresh = walk.add(page.deliveries, after=oldest)
                current.tally.add(Count.DELIVERIES_READ, fresh)
                cursor = page.next_cursor
                if cursor is None or not fresh:
                    cursor = None
                    break
                if current.out_of_time():
                    break
        finally:
            self._save(walk, reading, cursor, current.tally)
        return cursor is None

    def _save(self, walk: "Walk", reading: Reading, cursor: str | None, tally: Tally) -> None:
        for guid in sorted(walk.redelivered):
            self.lost.note_arrival(guid, at=walk.newest)
        if lost := walk.lost():
            self._store(lost, tally)
        covered_to = max(walk.newest, reading.covered_to)
        self.lost.save_reading(
            Reading(covered_to=reading.covered_to, newest=walk.newest, cursor=cursor)
            if cursor
            else Reading(covered_to=covered_to)
        )

    def _store(self, lost: Iterable[LostDelivery], tally: Tally) -> None:
        """Stored deliveries are updated to their newest attempt. New ones are added up to the installation's limit."""
        stored = {each.guid: each for each in self.lost.all()}
        of_installation = Counter(each.installation_id for each in stored.values())
        omitted: Counter[int | None] = Counter()
        for each in lost:
            if each.guid not in stored:
                if each.status_code in REJECTED_PERMANENTLY:
                    continue
                if of_installation[each.installation_id] >= LOST_AT_MOST:
                    omitted[each.installation_id] += 1
                    continue
                of_installation[each.installation_id] += 1
            self.lost.store(each)
        for installation_id, number in omitted.items():
            about = f"{number} lost deliveries of installation {installation_id}"
            tally.findings.append(f"{about} not stored: the limit is {LOST_AT_MOST}")

    def _redeliver(self, current: Pass) -> bool:
        """False if time ran out. Deliveries that are too old for GitHub are skipped, and expire in the table."""
        tally = current.tally
        every = [each for each in self.lost.all() if each.status_code not in REJECTED_PERMANENTLY]
        tally.add(Count.LOST, len(every))
        due = in_turn_by_installation(each for each in every if self._is_due(each, now=current.now))
        # Requests that GitHub refuses also count: each takes a call.
        tally.add(Count.POSTPONED, max(0, len(due) - REDELIVERED_AT_MOST))
        for lost in due[:REDELIVERED_AT_MOST]:
            if current.out_of_time():
                return False
            with tally.isolated(f"delivery {lost.guid}"):
                if self.lost.count_attempt(lost, at=current.now):
                    self._ask_github(lost)
                    about = f"delivery {lost.guid} ({lost.event}) of {lost.delivered_at}"
                    tally.report(Count.REDELIVERED, f"{about}: did not arrive; redelivered")
        return True

    def _is_due(self, lost: LostDelivery, *, now: str) -> bool:
        is_out_of_scope = lost.status_code == OUT_OF_SCOPE
        at_most = min(OUT_OF_SCOPE_ATTEMPTS, self.at_most) if is_out_of_scope else self.at_most
        oldest = times.earlier(now, seconds=REDELIVERY_DAYS * times.SECONDS_PER_DAY)
        pause = times.earlier(now, seconds=PAUSE_SECONDS * PAUSE_GROWTH ** max(0, lost.asked - 1))
        waits = lost.asked_at is not None and lost.asked_at > pause
        return lost.asked < at_most and not waits and lost.delivered_at > oldest

    def _ask_github(self, lost: LostDelivery) -> None:
        """A request without a response doesn't count as an attempt: the next pass repeats it.

        A request that GitHub refuses counts. Otherwise it would be repeated in every pass, and delay newer deliveries.
        """
        try:
            self.log.redeliver(lost.delivery_id)
        except UnavailableError:
            self.lost.uncount_attempt(lost)
            raise


def in_turn_by_installation(lost: Iterable[LostDelivery]) -> list[LostDelivery]:
    """The first of each installation, then the second of each, and so on: installations share a pass.

    Within an installation, deliveries with the fewest attempts come first, then those that were requested longest ago,
    then the oldest. A request without a response isn't an attempt, but must not come first in every pass.
    """
    queues: dict[int | None, list[LostDelivery]] = defaultdict(list)
    for each in sorted(lost, key=_urgency):
        queues[each.installation_id].append(each)
    turns = [(place, each) for queue in queues.values() for place, each in enumerate(queue)]
    return [each for _, each in sorted(turns, key=lambda turn: (turn[0], *_urgency(turn[1])))]


def _urgency(lost: LostDelivery) -> tuple[int, str, str, str]:
    return lost.asked, lost.tried_at or "", lost.delivered_at, lost.guid


@dataclass(slots=True, kw_only=True)
class Walk:
    """Rows of the log by GUID. The log keeps failed attempts, so a delivery is lost only if no attempt succeeded."""

    newest: str
    arrived: set[str] = field(default_factory=set)
    redelivered: set[str] = field(default_factory=set)
    failed: dict[str, LostDelivery] = field(default_factory=dict)

    def add(self, rows: Sequence[Mapping[str, Any]], *, after: str) -> int:
        """Returns how many of them are new."""
        fresh = [row for row in rows if _delivered_at(row) > after]
        self.newest = max((self.newest, *map(_delivered_at, rows)))
        for row in fresh:
            guid = str(row["guid"])
            if int(row.get("status_code") or 0) in ARRIVED:
                self.arrived.add(guid)
                if row.get("redelivery"):
                    self.redelivered.add(guid)  # only a redelivery can be stored as lost
            else:
                self._fail(guid, row)
        return len(fresh)

    def lost(self) -> list[LostDelivery]:
        """Oldest first."""
        return sorted((each for guid, each in self.failed.items() if guid not in self.arrived), key=_urgency)

    def _fail(self, guid: str, row: Mapping[str, Any]) -> None:
        """Keeps the newest attempt, which is the one to redeliver."""
        known, at = self.failed.get(guid), _delivered_at(row)
        if known is None or known.delivered_at < at:
            installation_id = row.get("installation_id")
            self.failed[guid] = LostDelivery(
                guid=guid,
                delivery_id=int(row["id"]),
                delivered_at=at,
                event=str(row.get("event")),
                status_code=int(row.get("status_code") or 0),
                installation_id=None if installation_id is None else int(installation_id),
            )


def _delivered_at(row: Mapping[str, Any]) -> str:
    return times.normalised(str(row["delivered_at"]))
