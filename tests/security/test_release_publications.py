"""Publications: hostile values in every place of a delivery are rejected, omitted or stored, and stop no queue."""

import json
from typing import Any

import pytest
from runledger.model.errors import Malformed
from runledger.model.packages import Publication
from runledger.releases.queue import PublicationQueue, read_publication
from runledger.webhooks.delivery import Delivery
from runledger.webhooks.readers import publications

from local.github.examples import payloads
from tests.releases.rebuild_scenes import ReleaseWorld
from tests.security.hostile_values import HOSTILE, paths, replaced

LARGEST_MESSAGE = 256 * 1024  # of SQS, in the regions with the smaller limit
# What the reader reads, or could.
READ = {
    *("action", "release", "tag_name", "draft", "published_at", "created_at", "repository", "full_name"),
    *("package", "package_version", "name", "version", "package_type", "ecosystem", "manifest", "npm_metadata"),
    *("target_oid", "ref", "created", "deleted", "head_commit", "after", "installation", "id"),
}


class Queue:
    """Of one message."""

    def __init__(self) -> None:
        self.message = ""

    def send_message(self, **sent: Any) -> None:
        self.message = sent["MessageBody"]
        assert len(self.message.encode()) <= LARGEST_MESSAGE


def published(message: dict[str, Any], event: str) -> Publication | None:
    """As it arrives from the queue."""
    body = json.dumps(message).encode()
    delivery = Delivery(event=event, delivery_id="1", body=body, received_at="2025-01-15T10:00:00.000Z")
    found = publications.read(delivery)
    if found is None:
        return None
    queue: Any = Queue()
    PublicationQueue(sqs=queue, url="https://sqs.invalid/inputs").send(found)
    return read_publication(queue.message)


def npm_package(**dependencies: object) -> dict[str, Any]:
    (message, *_) = payloads("package")
    version = message["package"]["package_version"]
    version["manifest"] = json.dumps({"name": "@octo/ui", "version": "1.0.0", "dependencies": dependencies})
    return message


@pytest.mark.parametrize("event", ["release", "package", "push"])
def test_hostile_values_in_a_delivery_stop_no_publication(event: str) -> None:
    message = next(each for each in payloads(event) if each.get("action") in ("published", None))
    if event == "push":
        message |= {"ref": "refs/tags/v1.0.0", "created": True, "deleted": False}
    world, read = ReleaseWorld(), 0
    for path in paths(message):
        if path[-1] not in READ or {"sender", "author", "owner"} & {*path}:
            continue
        for value in HOSTILE.values():
            try:
                found = published(replaced(message, path, value), event)
            except Malformed:
                continue
            if found is not None:
                world.scene().publications.publish(found)
                read += 1
    assert read > 100


@pytest.mark.parametrize(
    ("name", "wanted"),
    [("core", "\ud83d"), ("co\ud83dre", "1"), ("core", "\0"), ("c\u00f6re", "1"), ("", "1"), ("core", ["1"])],
)
def test_dependencies_that_cannot_be_stored_are_left_out(name: str, wanted: object) -> None:
    found = published(npm_package(**{name: wanted, "base": "^1.0.0"}), "package")
    assert found
    assert found.dependencies == {"base": "^1.0.0"}
    world = ReleaseWorld()
    (line,) = world.scene().publications.publish(found)
    stored = world.scene().packages.get(line.installation_id, "@octo/ui")
    assert stored
    assert stored["dependencies"] == {"base": "^1.0.0"}


def test_a_manifest_of_any_size_fits_into_a_message() -> None:
    names = {f"{number:03}{'x' * 200}": "\U0001f600" * 200 for number in range(500)}
    assert published(npm_package(**names), "package")
    plain = {f"{number:03}{'x' * 200}": "1" * 200 for number in range(240)}
    assert published(npm_package(**plain), "package")
