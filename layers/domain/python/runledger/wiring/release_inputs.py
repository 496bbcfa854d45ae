"""The queue of publications, for intake. Loaded only with the setting `releases`."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cache

from runledger.model.packages import Publication
from runledger.platform.clients import lazy_client
from runledger.releases.queue import PublicationQueue
from runledger.webhooks.delivery import Delivery
from runledger.webhooks.readers import publications
from runledger.wiring.settings import ReleaseInputSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Forwarder:
    """What `webhooks.intake` calls."""

    queue: PublicationQueue
    events: Collection[str] = frozenset(publications.READERS)
    read: Callable[[Delivery], Publication | None] = publications.read

    def send(self, publication: Publication, *, digest: str) -> None:
        self.queue.send(publication, digest=digest)


@cache
def queue() -> PublicationQueue:
    return PublicationQueue(sqs=lazy_client("sqs"), url=ReleaseInputSettings.from_environment().release_inputs_queue)


def forwarder() -> Forwarder:
    return Forwarder(queue=queue())
