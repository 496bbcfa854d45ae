"""Decision records are numbered without gaps, dated, complete, and listed in their index."""

import re
from pathlib import Path

import pytest

from tests.support.documents import DOCS, rows

FOLDER = DOCS / "adr"
RECORDS = sorted(FOLDER.glob("[0-9]*.md"))
EARLIER_FORMAT = 2  # the first records have headings of their own
HEADINGS = ["Context", "Decision", "Consequences"]


def number(record: Path) -> int:
    return int(record.name[:4])


def title(record: Path) -> str:
    return record.read_text().splitlines()[0].partition(". ")[2]


def date_and_status(record: Path) -> tuple[str, str]:
    line = r"^Date: (\d{4}-\d{2}-\d{2})\. Status: (accepted|superseded by .+)\.$"
    found = re.search(line, record.read_text(), re.MULTILINE)
    assert found
    return found[1], found[2]


def test_numbers_have_no_gaps() -> None:
    assert [number(record) for record in RECORDS] == list(range(1, len(RECORDS) + 1))


@pytest.mark.parametrize("record", RECORDS, ids=lambda file: file.name)
def test_a_record_has_its_number_a_date_and_a_status(record: Path) -> None:
    assert record.read_text().startswith(f"# {number(record)}. ")
    assert all(date_and_status(record))


@pytest.mark.parametrize("record", RECORDS[EARLIER_FORMAT:], ids=lambda file: file.name)
def test_a_record_has_a_context_a_decision_and_consequences(record: Path) -> None:
    assert re.findall(r"^## (.*)$", record.read_text(), re.MULTILINE) == HEADINGS


def test_the_index_lists_every_record_with_its_title_date_and_status() -> None:
    listed = [(title, date, status) for _, title, date, status in rows((FOLDER / "README.md").read_text())]
    assert listed == [(f"[{title(record)}]({record.name})", *date_and_status(record)) for record in RECORDS]
