"""Calls and responses, without credentials."""

import json
import re
from collections.abc import Mapping
from dataclasses import field
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from runledger.model.dataclass import dataclass

Json = Mapping[str, Any]

NEXT_LINK = re.compile(r'<([^>]*)>[^,<]*\brel="next"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """`repeatable` means idempotent. A `conditional` call is sent with the ETag of the last response."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    repeatable: bool = True
    conditional: bool = False
    body: Json | None = None

    @property
    def target(self) -> str:
        return f"{self.path}?{urlencode(self.query)}" if self.query else self.path

    def __str__(self) -> str:
        return f"{self.method} {self.target}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """The body isn't in the repr: it may contain a token."""

    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)

    @property
    def document(self) -> Any:
        """Raises ValueError if the body isn't JSON: GitHub and proxies return some errors as HTML."""
        return json.loads(self.body) if self.body else None

    @property
    def message(self) -> str:
        """GitHub's error message. Some errors are HTML pages without one."""
        try:
            return str(self.document["message"])
        except (ValueError, TypeError, KeyError):
            return "(no message)"

    @property
    def next_query(self) -> Mapping[str, str] | None:
        """Only the query of the link to the next page, because tokens must only be sent to the configured address."""
        found = NEXT_LINK.search(self.headers.get("link", ""))
        return dict(parse_qsl(urlsplit(found[1]).query)) if found else None
