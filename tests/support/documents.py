"""Reads sections and tables of the documents."""

import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
HEADING_AND_RULER = re.compile(r"^\|.*\n\|[-| ]+\|\n", re.MULTILINE)


def section(document: str, heading: str) -> str:
    text = (DOCS / document).read_text()
    found = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    assert found, f"docs/{document} has no section {heading}"
    return found[1]


def rows(text: str) -> list[list[str]]:
    """The cells of all tables in the text."""
    lines = HEADING_AND_RULER.sub("", text).splitlines()
    return [
        [cell.strip() for cell in line.removeprefix("|").removesuffix("|").split("|")]
        for line in lines
        if line.startswith("|")
    ]


def names(text: str) -> set[str]:
    """Everything that the first columns show as code."""
    return {name for first, *_ in rows(text) for name in re.findall(r"`([^`]+)`", first)}
