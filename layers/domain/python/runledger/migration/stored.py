"""Sources of stored webhooks: a bucket or a folder, listed by key and read one by one."""

import os
import stat
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn, Protocol

from botocore.exceptions import ClientError

from runledger.migration.copies import from_metadata
from runledger.migration.key_pattern import KeyPattern
from runledger.migration.objects import LARGEST_BODY, StoredWebhook, check_size
from runledger.model import times
from runledger.model.dataclass import dataclass
from runledger.model.errors import Malformed

ARCHIVED = {"GLACIER", "DEEP_ARCHIVE"}
# InvalidRequest: the object is encrypted with a key that AWS doesn't have (SSE-C).
UNREADABLE = {"AccessDenied", "InvalidRequest"}
KMS = "KMS."
REFUSED_AT_FIRST = 10
# The clocks of API Gateway and S3 may differ by this much.
CLOCK_DIFFERENCE_MS = times.MS_PER_SECOND * 60


class Archived(Exception):
    """The object must be restored before it can be read. The list of keys doesn't always show this: Intelligent-Tiering
    archives objects without changing their storage class, and an object may be archived after it was listed.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherKey:
    """An object whose key shows that it isn't a webhook."""

    key: str


class Source(Protocol):
    name: str

    def listed(self, pattern: KeyPattern, *, after: str | None = None) -> Iterator[StoredWebhook | OtherKey]:
        """Sorted by key, starting after `after`."""

    def read(self, stored: StoredWebhook) -> tuple[StoredWebhook, bytes] | None:
        """The webhook with its metadata, and its body. None if the object is gone.

        Raises Archived if it must be restored first, and Rejection if it is too large or can't be read.
        """


class BucketSource:
    def __init__(self, client: Any, bucket: str, prefix: str = "") -> None:
        self.name = f"s3://{bucket}/{prefix}"
        self._client = client
        self._bucket = bucket
        self._prefix = prefix
        self._is_readable = False
        self._refusals = 0

    def listed(self, pattern: KeyPattern, *, after: str | None = None) -> Iterator[StoredWebhook | OtherKey]:
        start = {"StartAfter": self._prefix + after} if after else {}
        pages = self._client.get_paginator("list_objects_v2").paginate(
            Bucket=self._bucket,
            Prefix=self._prefix + pattern.prefix,
            OptionalObjectAttributes=["RestoreStatus"],
            **start,
        )
        for page in pages:
            for found in page.get("Contents", []):
                yield _matched(
                    pattern,
                    StoredWebhook(
                        key=found["Key"].removeprefix(self._prefix),
                        size=found["Size"],
                        modified_at=times.normalised(found["LastModified"].isoformat()),
                        archived=_is_archived(found),
                    ),
                )

    def read(self, stored: StoredWebhook) -> tuple[StoredWebhook, bytes] | None:
        key = self._prefix + stored.key
        try:
            response = self._client.get_object(Bucket=self._bucket, Key=key)
        except self._client.exceptions.NoSuchKey:
            return None
        except self._client.exceptions.InvalidObjectState as error:
            raise Archived(stored.key) from error
        except ClientError as error:
            self._refused(error)
        with response["Body"] as stream:
            check_size(response["ContentLength"])  # it may have been replaced since it was listed
            body = stream.read()
        self._is_readable = True
        return _with_metadata(stored, from_metadata(response["Metadata"])), body

    def _refused(self, error: ClientError) -> NoReturn:
        """An object with another encryption key or policy is unreadable. If all of the first objects are, the error is
        raised: the caller probably may not read any object.
        """
        code = error.response["Error"]["Code"]
        self._refusals += 1
        is_only_this = self._is_readable or self._refusals <= REFUSED_AT_FIRST
        if is_only_this and (code in UNREADABLE or code.startswith(KMS)):
            raise Malformed("object", f"can't be read: {code}") from error
        raise error


class FolderSource:
    def __init__(self, folder: Path) -> None:
        self.name = str(folder.resolve())
        self._folder = folder

    def listed(self, pattern: KeyPattern, *, after: str | None = None) -> Iterator[StoredWebhook | OtherKey]:
        for key in self._keys():
            if key.startswith(pattern.prefix) and (after is None or _order(key) > _order(after)):
                yield self._listed(pattern, key)

    def read(self, stored: StoredWebhook) -> tuple[StoredWebhook, bytes] | None:
        try:
            with (self._folder / stored.key).open("rb") as file:
                return stored, file.read(LARGEST_BODY + 1)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise Malformed("file", f"can't be read: {error.strerror}") from error

    def _listed(self, pattern: KeyPattern, key: str) -> StoredWebhook | OtherKey:
        """Only regular files are webhooks: a link may point anywhere, and reading a pipe may never end."""
        try:
            status = (self._folder / key).lstat()
            key.encode()
        except (FileNotFoundError, UnicodeEncodeError):
            return OtherKey(key=key)
        if not stat.S_ISREG(status.st_mode):
            return OtherKey(key=key)
        modified_at = times.from_epoch_ms(int(min(max(status.st_mtime, 0), time.time()) * times.MS_PER_SECOND))
        return _matched(pattern, StoredWebhook(key=key, size=status.st_size, modified_at=modified_at))

    def _keys(self) -> Iterable[str]:
        found = (
            (Path(folder) / file).relative_to(self._folder).as_posix()
            for folder, _, files in os.walk(self._folder)
            for file in files
        )
        return sorted(found, key=_order)


def _is_archived(found: Mapping[str, Any]) -> bool:
    """A restored object keeps its storage class, and can be read until the restored copy expires."""
    is_restored = "RestoreExpiryDate" in found.get("RestoreStatus", {})
    return found.get("StorageClass") in ARCHIVED and not is_restored


def _order(key: str) -> bytes:
    """The order in which S3 sorts keys."""
    return key.encode("utf-8", "surrogateescape")


def _matched(pattern: KeyPattern, stored: StoredWebhook) -> StoredWebhook | OtherKey:
    values = pattern.match(stored.key)
    if values is None:
        return OtherKey(key=stored.key)
    return replace(
        stored,
        installation_id=values.get("installation_id"),
        job_id=values.get("job_id"),
        delivery_id=from_metadata(dict(values)).get("delivery_id"),
    )


def _with_metadata(stored: StoredWebhook, metadata: dict[str, str]) -> StoredWebhook:
    """Adds the metadata that `copies` stored with the object. Objects from earlier systems have none."""
    received_at = metadata.get("received-at")
    try:
        normalised = times.normalised(received_at) if received_at else None
    except ValueError:
        normalised = None
    if normalised is None:
        return stored
    # A webhook can't be newer than its object. With a time in the future, its job would never expire.
    if times.ms_between(stored.modified_at, normalised) > CLOCK_DIFFERENCE_MS:
        normalised = stored.modified_at
    return replace(
        stored,
        delivery_id=metadata.get("delivery-id") or stored.delivery_id,
        received_at=normalised,
        received_by=metadata.get("received-by"),
    )
