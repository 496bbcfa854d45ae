"""Reads the events that publish a package version: releases, packages in GitHub's registry, and pushed tags."""

from collections.abc import Callable

from runledger.model import payload
from runledger.model.errors import Malformed
from runledger.model.packages import LONGEST_NAME, LONGEST_RANGE, MOST_DEPENDENCIES, Publication, PublishedBy
from runledger.model.payload import Json
from runledger.webhooks.delivery import Delivery, installation_id
from runledger.webhooks.readers import dispatcher

PUBLISHED = "published"
TAG = "refs/tags/"
LONGEST_MANIFEST = 100_000


def read_release(message: Json, delivery: Delivery) -> Publication | None:
    if payload.action(message) != PUBLISHED:
        return None
    release = payload.section(message, "release")
    tag = payload.text(release, "tag_name")
    if tag is None or release.get("draft") is True:
        return None
    return _publication(
        message, delivery, PublishedBy.RELEASE, tag=tag, published_at=payload.instant(release, "published_at")
    )


def read_registry_package(message: Json, delivery: Delivery) -> Publication | None:
    return _read_package(message, delivery, "registry_package")


def read_package(message: Json, delivery: Delivery) -> Publication | None:
    return _read_package(message, delivery, "package")


def read_push(message: Json, delivery: Delivery) -> Publication | None:
    """Reads a new tag. Branches, and tags that are moved or deleted, publish nothing."""
    ref = payload.required_text(message, "ref", longest=1024)
    if not ref.startswith(TAG) or message.get("created") is not True or message.get("deleted") is True:
        return None
    commit = payload.text(payload.optional_section(message, "head_commit"), "id") or payload.text(message, "after")
    tag = payload.text({"tag": ref.removeprefix(TAG)}, "tag")
    return _publication(message, delivery, PublishedBy.TAG, tag=tag, head_sha=commit) if tag else None


READERS: dict[str, Callable[[Json, Delivery], Publication | None]] = {
    "release": read_release,
    "registry_package": read_registry_package,
    "package": read_package,
    "push": read_push,
}


def read(delivery: Delivery) -> Publication | None:
    """None for an action that publishes nothing."""
    message = payload.parse(delivery.body)
    event = dispatcher.event_of(message)
    if event is not None:
        raise Malformed("X-GitHub-Event", f"is {delivery.event}, but the body describes a {event} event")
    return READERS[delivery.event](message, delivery)


def _read_package(message: Json, delivery: Delivery, section: str) -> Publication | None:
    if payload.action(message) != PUBLISHED:
        return None
    package = payload.section(message, section)
    version = payload.optional_section(package, "package_version")
    npm = payload.optional_section(version, "npm_metadata") or _manifest(version)
    # Only npm's own metadata has the name with its scope, such as `@acme/ui`.
    name, number = payload.text(npm, "name") or payload.text(package, "name"), payload.text(version, "version")
    # A package on GitHub may have no repository. Then nothing shows which of our packages it is.
    if name is None or number is None or not payload.optional_section(message, "repository"):
        return None
    ecosystem = payload.text(package, "package_type") or payload.text(package, "ecosystem")
    return _publication(
        message,
        delivery,
        PublishedBy.REGISTRY_PACKAGE,
        package_name=name,
        package_version=number,
        ecosystem=ecosystem.lower() if ecosystem else None,
        head_sha=payload.text(version, "target_oid") or payload.text(npm, "git_head"),
        published_at=payload.instant(version, "created_at"),
        dependencies=_dependencies(npm),
    )


def _manifest(version: Json) -> Json:
    """The package.json of an npm package, which some deliveries contain as text."""
    text = version.get("manifest")
    if not isinstance(text, str) or not text.startswith("{") or len(text) > LONGEST_MANIFEST:
        return {}
    try:
        return payload.parse_object(text, "manifest")
    except Malformed:
        return {}


def _dependencies(npm: Json) -> dict[str, str] | None:
    """None without npm's metadata: the package then keeps its dependencies.

    npm's names and ranges are ASCII. A manifest can contain others, which are omitted: lone surrogates can't be stored,
    and escaped text can be larger than a queue message.
    """
    found = npm.get("dependencies")
    if not isinstance(found, dict):
        return None
    kept = {
        name: wanted or "*"
        for name, wanted in found.items()
        if isinstance(wanted, str) and _is_plain(name, LONGEST_NAME) and name and _is_plain(wanted, LONGEST_RANGE)
    }
    return dict(sorted(kept.items())[:MOST_DEPENDENCIES])


def _is_plain(text: str, longest: int) -> bool:
    return len(text) <= longest and text.isascii() and text.isprintable()


def _publication(
    message: Json, delivery: Delivery, published_by: PublishedBy, *, published_at: str | None = None, **found: object
) -> Publication:
    repository = payload.section(message, "repository")
    return Publication(
        installation_id=installation_id(message),
        repo_full_name=payload.repository_name(repository, "repository.full_name"),
        published_by=published_by,
        # At most the time of receipt: a date in the future would be the newest release.
        published_at=min(published_at or delivery.received_at, delivery.received_at),
        **found,  # type: ignore[arg-type]
    )
