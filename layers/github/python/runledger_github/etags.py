"""A cache of responses for conditional requests: a 304 doesn't count towards the rate limit."""

from runledger.model.dataclass import dataclass

from runledger_github.calls import Response

# A run is about 20 KB: 256 runs take 5 MB of the function's memory.
CAPACITY = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedResponse:
    etag: str
    body: bytes


class ETags:
    """The most recently used responses, by caller and target: installations must not share them."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self._cached: dict[tuple[str, str], CachedResponse] = {}

    def find(self, caller: str, target: str) -> CachedResponse | None:
        cached = self._cached.pop((caller, target), None)
        if cached:
            self._cached[caller, target] = cached
        return cached

    def store(self, caller: str, target: str, response: Response) -> None:
        etag = response.headers.get("etag")
        if not etag:
            return
        self._cached.pop((caller, target), None)
        self._cached[caller, target] = CachedResponse(etag=etag, body=response.body)
        if len(self._cached) > self._capacity:
            del self._cached[next(iter(self._cached))]
