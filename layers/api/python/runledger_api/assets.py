"""Files for browsers, compressed when the layer was built: a request costs no compression, and few bytes."""

import base64
import gzip
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from aws_lambda_powertools.event_handler.api_gateway import Response

from runledger_api.refusals import NotAcceptable

CONTENT_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
}
# Larger files are only sent compressed: anybody may ask for them, and we pay for each byte.
LARGEST_UNCOMPRESSED = 150_000
# The trailer of a gzip file has the uncompressed size in its last four bytes.
SIZE_AT = -4


@dataclass(frozen=True, slots=True, kw_only=True)
class Asset:
    """`gzipped` is in Base64, as API Gateway wants it."""

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
        """`accepted` is the request's Accept-Encoding. Without one, small files are sent as they are, for people."""
        about = {"Cache-Control": cache_control, "Vary": "Accept-Encoding", **(headers or {})}
        small = self.size <= LARGEST_UNCOMPRESSED
        if "gzip" not in (accepted or ""):
            if small:
                return Response(status_code=200, content_type=self.content_type, headers={**about}, body=self._text())
            if accepted:
                raise NotAcceptable("This file is only sent compressed: accept the encoding gzip")
        about["Content-Encoding"] = "gzip"
        response = Response(status_code=200, content_type=self.content_type, headers={**about}, body=self.gzipped)
        response.base64_encoded = True
        return response

    def _text(self) -> str:
        return gzip.decompress(base64.b64decode(self.gzipped)).decode()


class Assets:
    """Of one folder; each file is read when it is first asked for, and kept."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._names: frozenset[str] | None = None
        self._read: dict[str, Asset] = {}

    def get(self, name: str) -> Asset | None:
        """By name: a path that leads out of the folder is not the name of a file in it."""
        if self._names is None:
            self._names = frozenset(file.name.removesuffix(".gz") for file in self._folder.glob("*.gz"))
        if name in self._names and name not in self._read:
            self._read[name] = Asset.from_gzip(name, (self._folder / f"{name}.gz").read_bytes())
        return self._read.get(name)
