"""Webhooks that never arrived: GitHub's own log lists them, and GitHub redelivers them on request."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import urlsplit

from runledger.model import times
from runledger.model.errors import UnavailableError
from runledger.model.reports import WEBHOOK_PATH
from runledger.reconciliation.bounds import Bounds
from runledger.reconciliation.tally import Count, Tally
from runledger.tables.lost_deliveries import LostDeliveries, LostDelivery, Reading

REDELIVERED_FOR_DAYS = 3
# 10 minutes, then 4 times as long each: six tries span more than two of the three days.
PAUSE_SECONDS, PAUSE_GROWTH = 600, 4
# The first pass after a long outage must not send thousands of webhooks at once.
REDELIVERED_AT_MOST = 200
# A tenant whose deliveries are refused must not fill the table, which each full pass reads.
LOST_AT_MOST = 5000
ARRIVED = range(200, 300)
# The same body is malformed or too large again. A secret may be corrected: one more try is enough to find out.
REFUSED_FOR_GOOD = {400, 413}
REFUSED_ONCE_MORE = {401, 403}
# As long as from one full pass to the next.
OVERLAP_SECONDS = 30 * times.SECONDS_PER_MINUTE


class DeliveryPage(Protocol):
    @property
    def deliveries(self) -> Sequence[Mapping[str, Any]]: ...
    @property
    def next_cursor(self) -> str | None: ...


class DeliveryLog(Protocol):
    """The GitHub App's, as runledger_github has it: newest first, more or less."""

    def hook_url(self) -> str: ...
    def hook_deliveries(self, cursor: str | None = None) -> Iterator[DeliveryPage]: ...
    def redeliver(self, delivery_id: int) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryCheck:
    log: DeliveryLog
    lost: LostDeliveries
    at_most: int

    def check(self, *, now: str, bounds: Bounds, tally: Tally) -> bool:
        """False if time ran out."""
        is_ours = False
        with tally.alone("the log of deliveries"):
            is_ours = self._is_ours(tally)
            if is_ours and not self._read_on(now=now, bounds=bounds, tally=tally):
                return False
        return self._redeliver(now=now, bounds=bounds, tally=tally) if is_ours else True

    def _is_ours(self, tally: Tally) -> bool:
        """The failures of another application's webhook are not ours: redelivered, they reach it a second time."""
        url = self.log.hook_url()
        if urlsplit(url).path.rstrip("/").endswith(WEBHOOK_PATH):
            return True
        about = f"the address of the App's webhook, {url or 'none'}, does not end with {WEBHOOK_PATH}"
        tally.findings.append(f"the log of deliveries: left alone, {about}")
        return False

    def _read_on(self, *, now: str, bounds: Bounds, tally: Tally) -> bool:
        """First what a walk that was cut short has left, then what is new."""
        reading = self.lost.reading()
        if reading.cursor:
            try:
                if not self._walk(reading, now=now, bounds=bounds, tally=tally):
                    return False
            except UnavailableError:
                raise
            except Exception as refusal:
                # GitHub takes no cursor for ever. What is new is read from the beginning, down to what was read before.
                self.lost.read(Reading(covered_to=reading.covered_to))
                tally.findings.append(f"the log of deliveries: read again from its beginning, {refusal}")
        return self._walk(Reading(covered_to=self.lost.reading().covered_to), now=now, bounds=bounds, tally=tally)

    def _walk(self, reading: Reading, *, now: str, bounds: Bounds, tally: Tally) -> bool:
        """Down to what was read before, and a little further: a row may appear late, and ids follow no order.

        Where it is cut short, the next pass goes on.
        """
        oldest = times.earlier(now, seconds=REDELIVERED_FOR_DAYS * times.SECONDS_PER_DAY)
        if reading.covered_to:
            oldest = max(oldest, times.earlier(reading.covered_to, seconds=OVERLAP_SECONDS))
        walk, cursor = Walk(newest=reading.newest), reading.cursor
        try:
            for page in self.log.hook_deliveries(cursor):
                fresh = walk.add(page.deliveries, after=oldest)
                tally.add(Count.DELIVERIES_READ, fresh)
                cursor = page.next_cursor
                if cursor is None or not fresh:
                    cursor = None
                    break
                if bounds.out_of_time():
                    break
        finally:
            self._keep(walk, reading, cursor, tally)
        return cursor is None

    def _keep(self, walk: "Walk", reading: Reading, cursor: str | None, tally: Tally) -> None:
        for guid in sorted(walk.redelivered):
            self.lost.arrived(guid, at=walk.newest)
        if lost := walk.lost():
            self._store(lost, tally)
        covered_to = max(walk.newest, reading.covered_to)
        self.lost.read(
            Reading(covered_to=reading.covered_to, newest=walk.newest, cursor=cursor)
            if cursor
            else Reading(covered_to=covered_to)
        )

    def _store(self, lost: Iterable[LostDelivery], tally: Tally) -> None:
        """What is stored already always, for its newest attempt counts; what is new up to the installation's limit."""
        stored = {each.guid: each for each in self.lost.all()}
        of_installation = Counter(each.installation_id for each in stored.values())
        left_out: Counter[int | None] = Counter()
        for each in lost:
            if each.guid not in stored:
                if each.status_code in REFUSED_FOR_GOOD:
                    continue
                if of_installation[each.installation_id] >= LOST_AT_MOST:
                    left_out[each.installation_id] += 1
                    continue
                of_installation[each.installation_id] += 1
            self.lost.lose(each)
        for installation_id, number in left_out.items():
            about = f"{number} lost deliveries of installation {installation_id}"
            tally.findings.append(f"{about} not stored: it has {LOST_AT_MOST} already")

    def _redeliver(self, *, now: str, bounds: Bounds, tally: Tally) -> bool:
        """Each at most a few times, with growing pauses; what is too old for GitHub expires here, too."""
        every = [each for each in self.lost.all() if each.status_code not in REFUSED_FOR_GOOD]
        tally.add(Count.LOST, len(every))
        for lost in in_turn(each for each in every if self._is_due(each, now=now)):
            if bounds.out_of_time():
                return False
            if tally.counts[Count.REDELIVERED] >= REDELIVERED_AT_MOST:
                tally.add(Count.POSTPONED)
                continue
            with tally.alone(f"delivery {lost.guid}"):
                if self.lost.ask(lost, at=now):
                    self._ask_github(lost)
                    about = f"delivery {lost.guid} ({lost.event}) of {lost.delivered_at}"
                    tally.find(Count.REDELIVERED, f"{about}: never arrived; redelivered")
        return True

    def _is_due(self, lost: LostDelivery, *, now: str) -> bool:
        at_most = min(1, self.at_most) if lost.status_code in REFUSED_ONCE_MORE else self.at_most
        oldest = times.earlier(now, seconds=REDELIVERED_FOR_DAYS * times.SECONDS_PER_DAY)
        pause = times.earlier(now, seconds=PAUSE_SECONDS * PAUSE_GROWTH ** max(0, lost.asked - 1))
        waits = lost.asked_at is not None and lost.asked_at > pause
        return lost.asked < at_most and not waits and lost.delivered_at > oldest

    def _ask_github(self, lost: LostDelivery) -> None:
        """A try that GitHub did not accept is no try: the next pass makes it."""
        try:
            self.log.redeliver(lost.delivery_id)
        except Exception:
            self.lost.not_asked(lost)
            raise


def in_turn(lost: Iterable[LostDelivery]) -> list[LostDelivery]:
    """One of each installation, then the second of each, and so on: so a pass is shared among them.

    Those that were asked for least come first, then the oldest.
    """
    queues: dict[int | None, list[LostDelivery]] = defaultdict(list)
    for each in sorted(lost, key=_urgency):
        queues[each.installation_id].append(each)
    turns = [(place, each) for queue in queues.values() for place, each in enumerate(queue)]
    return [each for _, each in sorted(turns, key=lambda turn: (turn[0], *_urgency(turn[1])))]


def _urgency(lost: LostDelivery) -> tuple[int, str, str]:
    return lost.asked, lost.delivered_at, lost.guid


@dataclass(slots=True, kw_only=True)
class Walk:
    """Rows of the log by GUID: it keeps failed rows after a success, so one success among them is enough."""

    newest: str
    arrived: set[str] = field(default_factory=set)
    redelivered: set[str] = field(default_factory=set)
    failed: dict[str, LostDelivery] = field(default_factory=dict)

    def add(self, rows: Sequence[Mapping[str, Any]], *, after: str) -> int:
        """How many of them are new."""
        fresh = [row for row in rows if _delivered_at(row) > after]
        self.newest = max((self.newest, *map(_delivered_at, rows)))
        for row in fresh:
            guid = str(row["guid"])
            if int(row.get("status_code") or 0) in ARRIVED:
                self.arrived.add(guid)
                if row.get("redelivery"):
                    self.redelivered.add(guid)  # only these can have been lost in an earlier walk
            else:
                self._fail(guid, row)
        return len(fresh)

    def lost(self) -> list[LostDelivery]:
        """The oldest first."""
        return sorted((each for guid, each in self.failed.items() if guid not in self.arrived), key=_urgency)

    def _fail(self, guid: str, row: Mapping[str, Any]) -> None:
        """The newest attempt is the one to redeliver."""
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
