"""docs/README.md lists every page once."""

import re
from collections import Counter

from tests.support.documents import DOCS, rows

LINKED = Counter(re.findall(r"\]\(([^)]+)\)", first)[0] for first, *_ in rows((DOCS / "README.md").read_text()))


def test_every_page_is_listed() -> None:
    pages = {page.name for page in DOCS.glob("*.md")} - {"README.md"}
    assert pages
    assert pages <= LINKED.keys()


def test_no_page_is_listed_twice() -> None:
    assert [page for page, times in LINKED.items() if times > 1] == []
