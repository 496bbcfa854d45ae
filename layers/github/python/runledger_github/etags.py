"""Answers worth asking about again: GitHub charges nothing for saying that one has not changed."""

from dataclasses import dataclass

from runledger_github.messages import Answer

# A run is about 20 KB, so this is a few megabytes of a function's memory.
CAPACITY = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    etag: str
    body: bytes


class ETags:
    """The answers used last, by caller and target: what one installation was told is not for another."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self._kept: dict[tuple[str, str], Kept] = {}

    def find(self, caller: str, target: str) -> Kept | None:
        kept = self._kept.pop((caller, target), None)
        if kept:
            self._kept[caller, target] = kept
        return kept

    def keep(self, caller: str, target: str, answer: Answer) -> None:
        etag = answer.headers.get("etag")
        if not etag:
            return
        self._kept.pop((caller, target), None)
        self._kept[caller, target] = Kept(etag=etag, body=answer.body)
        if len(self._kept) > self._capacity:
            del self._kept[next(iter(self._kept))]
