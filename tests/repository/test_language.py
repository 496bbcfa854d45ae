"""Documents use plain technical English: machines aren't persons, and idioms of this project's past stay out.

To cover more of the repository, add a folder and its suffixes to COVERED.
"""

import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent

# Folder → suffixes of the files to check; "" is the whole repository.
COVERED: dict[str, tuple[str, ...]] = {
    "": (".md",),
}
# Files that are still being rewritten: remove a file from here when it passes.
PENDING: frozenset[str] = frozenset()

# A regular expression → what to write instead. A space matches any white space, including a line break.
AVOID = {
    r"said|told|tells|sayings?|heard( of)?": "the verb for what happens: reports, names, shows, contains",
    r"errands?": "task, message",
    r"visit(s|ed)?|entrance": "request, app",
    r"wish(es)?": "option",
    r"whoever|who is not there": "the person who, the process that",
    r"somebody|nobody|anybody|everybody": "name the role, or use the passive",
    r"in vain": "never started, without a result",
    r"mend(s|ed|ing)?": "correct, repair",
    r"reckon(s|ed|ing)?": "compute, estimate, or state the fact",
    r"shall": "must, or the present tense",
    r"is a must": "is required",
    r"cut short": "interrupted",
    r"not known, or no longer": "isn't valid",
    r"the hush": "suppressed output",
}
# Legitimate uses, by the exact text around the word. Keep this list short.
ALLOWED: tuple[str, ...] = ("a job that was noted as cut short stays noted",)

PATTERNS = {
    re.compile(rf"\b(?:{pattern.replace(' ', chr(92) + 's+')})\b", re.IGNORECASE): instead
    for pattern, instead in AVOID.items()
}


def findings(text: str) -> Iterator[str]:
    for phrase in ALLOWED:
        text = text.replace(phrase, re.sub(r"[^\n]", " ", phrase))  # keeps the line numbers
    for expression, instead in PATTERNS.items():
        for found in expression.finditer(text):
            line = text.count("\n", 0, found.start()) + 1
            yield f'line {line}: "{found[0]}"; write: {instead}'


@cache
def covered_files() -> tuple[str, ...]:
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return tuple(
        file
        for file in tracked.splitlines()
        if any(file.startswith(folder) and file.endswith(suffixes) for folder, suffixes in COVERED.items())
        and file not in PENDING
        and (ROOT / file).exists()
    )


def test_every_document_is_covered() -> None:
    assert {"README.md", "docs/operating.md", "docs/adr/README.md", "runner/README.md"} <= {*covered_files()}


@pytest.mark.parametrize("file", covered_files())
def test_a_file_uses_plain_english(file: str) -> None:
    assert list(findings((ROOT / file).read_text())) == []


@pytest.mark.parametrize(
    "text",
    [
        "A job whose end GitHub never told.",
        "Approvals that nobody gave.",
        "Jobs that were cut\nshort are run again.",
        "Only *Workflow jobs* is a must.",
        "Whoever cleans must ask first.",
    ],
)
def test_an_idiom_is_found_even_across_lines(text: str) -> None:
    assert list(findings(text))


def test_words_inside_names_are_not_found() -> None:
    assert list(findings("`cut_short_job_ids`, recommended, marshalled, Swiss, revisited")) == []
