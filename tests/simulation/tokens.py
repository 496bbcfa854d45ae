"""Expressions cut into tokens, with a note of every placeholder that they use."""

import importlib.util
import re
from functools import cache
from pathlib import Path

from tests.simulation.values import Rejected

TOKEN = re.compile(r"\s*(<>|<=|>=|[=<>(),.\[\]+\-]|[#:]?[A-Za-z0-9_]+)")
KEYWORDS = {"AND", "OR", "NOT", "IN", "BETWEEN", "SET", "ADD", "REMOVE", "DELETE"}


@cache
def reserved_words() -> frozenset[str]:
    """Words that name an attribute only behind a `#`, from the list that moto ships; moto itself is not imported."""
    spec = importlib.util.find_spec("moto")
    assert spec is not None
    assert spec.submodule_search_locations
    listed = Path(spec.submodule_search_locations[0]) / "dynamodb" / "parsing" / "reserved_keywords.txt"
    return frozenset(listed.read_text().upper().split())


class Tokens:
    """A cursor over an expression."""

    def __init__(self, kind: str, text: str) -> None:
        self.kind = kind
        self.names: set[str] = set()
        self.values: set[str] = set()
        self._tokens: list[str] = []
        self._at = 0
        if not text.strip():
            raise Rejected(f"Invalid {kind}: The expression can not be empty;")
        end = 0
        while end < len(text.rstrip()):
            match = TOKEN.match(text, end)
            if not match:
                raise Rejected(f'Invalid {kind}: Syntax error; token: "{text[end]}"')
            self._tokens.append(match[1])
            end = match.end()

    @property
    def next(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    @property
    def word(self) -> str:
        """Keywords in any case; functions are distinguished by their own case."""
        upper = self.next.upper()
        return upper if upper in KEYWORDS else self.next

    @property
    def calls(self) -> bool:
        """A name with a parenthesis behind it."""
        return self._at + 1 < len(self._tokens) and self._tokens[self._at + 1] == "("

    def take(self) -> str:
        taken = self.next
        self._at += 1
        return taken

    def accept(self, *words: str) -> bool:
        if self.word in words:
            self._at += 1
            return True
        return False

    def expect(self, word: str) -> None:
        if not self.accept(word):
            raise self.error()

    def error(self) -> Rejected:
        return Rejected(f'Invalid {self.kind}: Syntax error; token: "{self.next or "<EOF>"}"')

    def end(self) -> None:
        if self.next:
            raise self.error()

    def name(self) -> str:
        token = self.take()
        if token.startswith("#"):
            self.names.add(token)
        elif not token or not (token[0].isalpha() or token[0] == "_"):
            self._at -= 1
            raise self.error()
        elif token.upper() in reserved_words():
            raise Rejected(f"Invalid {self.kind}: Attribute name is a reserved keyword; reserved keyword: {token}")
        return token

    def value(self) -> str:
        if not self.next.startswith(":"):
            raise self.error()
        self.values.add(self.next)
        return self.take()
