"""Reads the publications queue. Each version gets a release line, and its dependents are planned or rebuilt."""

from typing import Any

from runledger.platform import batches, logs
from runledger.releases import queue
from runledger.wiring import release_publications

publications = release_publications.publications()


def handler(event: dict[str, Any], context: Any) -> Any:
    return batches.each_in_order(event, context, _publish)


def _publish(message: str) -> None:
    publication = queue.read_publication(message)
    logs.continue_message(message)
    published = publications.publish(publication)
    about = {"published_by": publication.published_by, "repo_full_name": publication.repo_full_name}
    logs.logger.info("publication", extra=about | {"versions": [f"{line.name} {line.version}" for line in published]})
