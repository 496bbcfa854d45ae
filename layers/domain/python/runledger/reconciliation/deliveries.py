"""Webhooks that never arrived: GitHub's own log tells which, and redelivers them when it is asked."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from runledger import times
from runledger.reconciliation.bounds import Bounds
from runledger.reconciliation.tally import Count, Tally
from runledger.tables.lost_deliveries import LostDeliveries, LostDelivery, Reading

REDELIVERED_FOR_DAYS = 3
# 10 minutes, then 4 times as long each: six tries span more than two of the three days.
PAUSE_SECONDS, PAUSE_GROWTH = 600, 4
# The first pass after a long outage must not send thousands of webhooks at once.
REDELIVERED_AT_MOST = 200
ARRIVED = range(200, 300)


class DeliveryPage(Protocol):
    @property
    def deliveries(self) -> Sequence[Mapping[str, Any]]: ...
    @property
    def next_cursor(self) -> str | None: ...


class DeliveryLog(Protocol):
    """The GitHub App's, as runledger_github has it: newest first."""

    def hook_deliveries(self, cursor: str | None = None) -> Iterator[DeliveryPage]: ...
    def redeliver(self, delivery_id: int) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryCheck:
    log: DeliveryLog
    lost: LostDeliveries
    at_most: int

    def check(self, *, now: str, bounds: Bounds, tally: Tally) -> bool:
        """False if time ran out."""
        with tally.alone("the log of deliveries"):
            reading = self.lost.reading()
            if reading.cursor and not self._walk(reading, now=now, bounds=bounds, tally=tally):
                return False
            afresh = Reading(read_to=self.lost.reading().read_to)
            if not self._walk(afresh, now=now, bounds=bounds, tally=tally):
                return False
        return self._redeliver(now=now, bounds=bounds, tally=tally)

    def _walk(self, reading: Reading, *, now: str, bounds: Bounds, tally: Tally) -> bool:
        """From where it begins down to what was read before; where it is cut short, the next pass goes on."""
        oldest = times.earlier(now, seconds=REDELIVERED_FOR_DAYS * times.SECONDS_PER_DAY)
        newest, arrived = reading.newest, set[str]()
        for page in self.log.hook_deliveries(reading.cursor):
            rows = [row for row in page.deliveries if int(row["id"]) > reading.read_to]
            rows = [row for row in rows if times.normalised(str(row["delivered_at"])) > oldest]
            newest = max(newest, *(int(row["id"]) for row in page.deliveries), 0)
            for row in rows:
                self._take(row, arrived)
            tally.add(Count.DELIVERIES_READ, len(rows))
            if len(rows) < len(page.deliveries) or page.next_cursor is None:
                break
            if bounds.out_of_time():
                self.lost.read(Reading(read_to=reading.read_to, newest=newest, cursor=page.next_cursor))
                return False
        self.lost.read(Reading(read_to=max(newest, reading.read_to)))
        return True

    def _take(self, row: Mapping[str, Any], arrived: set[str]) -> None:
        """The log keeps failed rows after a success, and rows come newest first."""
        guid = str(row["guid"])
        if int(row.get("status_code") or 0) in ARRIVED:
            if guid not in arrived and row.get("redelivery"):
                self.lost.arrived(guid)  # only a redelivery can have been lost before
            arrived.add(guid)
        elif guid not in arrived:
            delivered_at = times.normalised(str(row["delivered_at"]))
            self.lost.lose(
                LostDelivery(
                    guid=guid, delivery_id=int(row["id"]), delivered_at=delivered_at, event=str(row.get("event"))
                )
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
