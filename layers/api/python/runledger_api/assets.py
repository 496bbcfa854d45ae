"""Static files, compressed when the layer is built, so that requests need no compression."""

import base64
import gzip
from collections.abc import Mapping
from pathlib import Path
from typing import Self

from aws_lambda_powertools.event_handler.api_gateway import Response
from runledger.model.dataclass import dataclass

from runledger_api.errors import NotAcceptable

CONTENT_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
}
# Larger files are only sent compressed: they are public, and data transfer is billed per byte.
LARGEST_UNCOMPRESSED = 150_000
# The last four bytes of a gzip file are the uncompressed size.
SIZE_AT = -4


@dataclass(frozen=True, slots=True, kw_only=True)
class Asset:
    """`gzipped` is Base64-encoded, as API Gateway requires for binary responses."""

    content_type: str
    gzipped: str
    size: int

    @classmethod
    def from_gzip(cls, name: str, content: bytes) -> Self:
        return cls(
            content_type=CONTENT_TYPES[Path(name).suffix],
            gzipped=base64.b64encode(content).decode(),
            size=int.from_bytes(content[SIZE_AT:], "little"),
        )

    @classmethod
    def from_text(cls, name: str, text: str) -> Self:
        return cls.from_gzip(name, gzip.compress(text.encode(), mtime=0))

    def respond(
        self, accepted: str | None, *, cache_control: str, headers: Mapping[str, str] | None = None
    ) -> Response[str]:
        """`accepted` is the Accept-Encoding header. Small files are sent uncompressed without it, for use with curl."""
        all_headers = {"Cache-Control": cache_control, "Vary": "Accept-Encoding", **(headers or {})}
        small = self.size <= LARGEST_UNCOMPRESSED
        if "gzip" not in (accepted or ""):
            if small:
                return Response(
                    status_code=200, content_type=self.content_type, headers={**all_headers}, body=self._text()
                )
            if accepted:
                raise NotAcceptable("This file is only available compressed: send `Accept-Encoding: gzip`")
        all_headers["Content-Encoding"] = "gzip"
        response = Response(status_code=200, content_type=self.content_type, headers={**all_headers}, body=self.gzipped)
        response.base64_encoded = True
        return response

    def _text(self) -> str:
        return gzip.decompress(base64.b64decode(self.gzipped)).decode()


class Assets:
    """The files of one folder. Each file is read on its first request and cached."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._names: frozenset[str] | None = None
        self._read: dict[str, Asset] = {}

    def get(self, name: str) -> Asset | None:
        """Looks up a file name, not a path, so that a request can't leave the folder."""
        if self._names is None:
            self._names = frozenset(file.name.removesuffix(".gz") for file in self._folder.glob("*.gz"))
        if name in self._names and name not in self._read:
            self._read[name] = Asset.from_gzip(name, (self._folder / f"{name}.gz").read_bytes())
        return self._read.get(name)
