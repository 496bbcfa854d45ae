"""The webhooks that may publish a version of a package. Intake loads this only with the setting `releases`."""

from collections.abc import Callable, Collection

from runledger.model.dataclass import dataclass
from runledger.model.packages import Publication
from runledger.webhooks.delivery import Delivery
from runledger.webhooks.readers import publications


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicationIntake:
    """`send` puts a publication on its queue, with the digest of its webhook."""

    send: Callable[[Publication, str], None]
    events: Collection[str] = frozenset(publications.READERS)

    def read(self, delivery: Delivery) -> Publication | None:
        """None if nothing is published."""
        return publications.read(delivery)
