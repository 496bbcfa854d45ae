"""Logs and metrics of the feed."""

from runledger.platform.logs import count


def feed_written(installation_id: int, *, new: int, repeated: int) -> None:
    metrics = {"FeedEventsWritten": new, "FeedEventsRepeated": repeated}
    count("feed written", {"installation_id": installation_id}, metrics)
