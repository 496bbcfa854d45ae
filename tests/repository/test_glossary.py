"""docs/glossary.md: each term once, and where it is defined."""

import re
from collections import Counter
from pathlib import Path

from tests.support.documents import DOCS, rows

ROOT = Path(__file__).parent.parent.parent
ENTRIES = rows((DOCS / "glossary.md").read_text())


def test_every_term_has_one_meaning_and_one_place() -> None:
    assert len(ENTRIES) >= 30
    terms = Counter(term for first, *_ in ENTRIES for term in first.split(", "))
    assert [term for term, times in terms.items() if times > 1] == []
    assert all(meaning and place for _, meaning, place in ENTRIES)


def test_every_place_that_defines_a_term_exists() -> None:
    places = [place for *_, cell in ENTRIES for place in re.findall(r"`([^`]+)`", cell)]
    assert len(places) == len(ENTRIES)
    assert [place for place in places if not (ROOT / place).exists()] == []
