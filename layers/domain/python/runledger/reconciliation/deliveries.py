"""Webhooks that never arrived: GitHub's own log tells which, and redelivers them when it is asked."""

from collections.abc import Iterator, Mapping, Sequence
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
ARRIVED = range(200, 300)
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
            self._keep(walk, reading, cursor)
        return cursor is None

    def _keep(self, walk: "Walk", reading: Reading, cursor: str | None) -> None:
        for guid in sorted(walk.redelivered):
            self.lost.arrived(guid, at=walk.newest)
        for lost in walk.lost():
            self.lost.lose(lost)
        covered_to = max(walk.newest, reading.covered_to)
        self.lost.read(
            Reading(covered_to=reading.covered_to, newest=walk.newest, cursor=cursor)
            if cursor
            else Reading(covered_to=covered_to)
        )

    def _redeliver(self, *, now: str, bounds: Bounds, tally: Tally) -> bool:
        """Each at most a few times, with growing pauses; what is too old for GitHub expires here, too."""
        oldest = times.earlier(now, seconds=REDELIVERED_FOR_DAYS * times.SECONDS_PER_DAY)
        for lost in self.lost.all():
            if bounds.out_of_time():
                return False
            tally.add(Count.LOST)
            pause = times.earlier(now, seconds=PAUSE_SECONDS * PAUSE_GROWTH ** max(0, lost.asked - 1))
            waits = lost.asked_at is not None and lost.asked_at > pause
            if lost.asked >= self.at_most or waits or lost.delivered_at <= oldest:
                continue
            if tally.counts[Count.REDELIVERED] >= REDELIVERED_AT_MOST:
                tally.add(Count.POSTPONED)
                continue
            with tally.alone(f"delivery {lost.guid}"):
                if self.lost.ask(lost, at=now):
                    self._ask_github(lost)
                    about = f"delivery {lost.guid} ({lost.event}) of {lost.delivered_at}"
                    tally.find(Count.REDELIVERED, f"{about}: never arrived; redelivered")
        return True

    def _ask_github(self, lost: LostDelivery) -> None:
        """A try that GitHub did not accept is no try: the next pass makes it."""
        try:
            self.log.redeliver(lost.delivery_id)
        except Exception:
            self.lost.not_asked(lost)
            raise


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
        return [each for guid, each in sorted(self.failed.items()) if guid not in self.arrived]

    def _fail(self, guid: str, row: Mapping[str, Any]) -> None:
        """The newest attempt is the one to redeliver."""
        known, at = self.failed.get(guid), _delivered_at(row)
        if known is None or known.delivered_at < at:
            event = str(row.get("event"))
            self.failed[guid] = LostDelivery(guid=guid, delivery_id=int(row["id"]), delivered_at=at, event=event)


def _delivered_at(row: Mapping[str, Any]) -> str:
    return times.normalised(str(row["delivered_at"]))
