"""The publications queue, for intake. Loaded only with the setting `releases`."""

from runledger.platform.clients import lazy_client
from runledger.releases.queue import PublicationQueue
from runledger.webhooks.publication_intake import PublicationIntake
from runledger.wiring.settings import PublicationQueueSettings


def intake() -> PublicationIntake:
    url = PublicationQueueSettings.from_environment().release_inputs_queue
    return PublicationIntake(send=PublicationQueue(sqs=lazy_client("sqs"), url=url).send)
