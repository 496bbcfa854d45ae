"""What goes to GitHub and what comes back, without a word of who asks."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

Json = Mapping[str, Any]

NEXT_LINK = re.compile(r'<([^>]*)>[^,<]*\brel="next"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """`repeatable`: twice is the same as once. `conditional`: it is often unchanged. `free`: it costs no budget."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    repeatable: bool = True
    conditional: bool = False
    free: bool = False

    @property
    def target(self) -> str:
        return f"{self.path}?{urlencode(self.query)}" if self.query else self.path

    def __str__(self) -> str:
        return f"{self.method} {self.target}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The body stays out of every repr, because one kind of answer holds a token."""

    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)

    @property
    def document(self) -> Any:
        """ValueError if a proxy, or GitHub in trouble, has sent something other than JSON."""
        return json.loads(self.body) if self.body else None

    @property
    def message(self) -> str:
        """GitHub's own words; in trouble it sends pages of HTML, which have none."""
        try:
            return str(self.document["message"])
        except (ValueError, TypeError, KeyError):
            return "without a message"

    @property
    def next_query(self) -> Mapping[str, str] | None:
        """Only the query of the next page's link: a token must go nowhere but to the address that was configured."""
        found = NEXT_LINK.search(self.headers.get("link", ""))
        return dict(parse_qsl(urlsplit(found[1]).query)) if found else None
