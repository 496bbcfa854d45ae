"""Documents and code use plain technical English: machines aren't persons, and idioms of this project's past stay out.

Every text file that git tracks is checked, except those in EXCLUDED.
"""

import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent

EXCLUDED = (
    "LICENSE",
    "package-lock.json",
    # Fields of messages that functions of the first release wrote.
    "tests/domain/messages.v1.json",
    # This file has to contain the words.
    "tests/repository/test_language.py",
)
# Pictures, and lists of packages.
EXCLUDED_SUFFIXES = (".png", ".txt")

# A regular expression → what to write instead. A space matches any white space, including a line break, and "_".
AVOID = {
    r"said|told|tells|says?|sayings?": "the verb for what happens: reports, names, shows, contains",
    r"hears?|heard( of)?|hearing of": "receives",
    r"knows": "has, contains, is configured with",
    # A person may answer yes or no.
    r"answer(s|ed|ing)?(?! (yes|no))": "response, returns, responds",
    r"errands?": "task, message",
    r"visit(s|ed)?|entrance": "request, app",
    r"wish(es)?": "option",
    r"whoever|who is not there": "the person who, the process that",
    r"(some|no|any|every)body'?s?": "name the role, or use the passive",
    r"test who": "name the process or the machine",
    r"acquit(s|ted|ting)?": "the suspicion is cleared",
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
ALLOWED = (
    "cut_short_job_ids",  # a stored attribute
    # A field of retry messages, which functions of the first release read.
    'LEGACY_ENTRY_FIELD = "said"',
    'message["said"]',
    'renamed["said"]',
    '{"kind", "said"}',
    # Keys of the bench's stored results.
    '"told_by_another_hook"',
    '"first_heard_of_when_completed"',
)

WHITE_SPACE = r"[\s_]+"
PATTERNS = {
    # Not \b: a word is also found as a part of snake_case.
    re.compile(rf"(?<![a-z])(?:{pattern.replace(' ', WHITE_SPACE)})(?![a-z])", re.IGNORECASE): instead
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
        if not file.startswith(EXCLUDED) and not file.endswith(EXCLUDED_SUFFIXES) and (ROOT / file).exists()
    )


def test_documents_code_and_configuration_are_covered() -> None:
    documents = {"README.md", "docs/operating.md", "docs/adr/README.md", "runner/README.md"}
    code = {"app.py", "functions/api.py", "recovery/__main__.py", "web/index.html", "tests/conftest.py"}
    configuration = {"Makefile", "pyproject.toml", "eslint.config.mjs", "cdk.json", ".ci/run"}
    assert documents | code | configuration <= {*covered_files()}


def test_every_excluded_path_exists() -> None:
    assert [path for path in EXCLUDED if not (ROOT / path).exists()] == []


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
        "def test_a_job_is_told_nothing() -> None:",
        "SOMEBODY_ELSES",
        "a task on somebodys instance",
        "def test_who_always_loses_gives_up() -> None:",
        "an approval that came without our hearing of it",
        "GitHub says that the job ended.",
        "scene.hear(QUEUED)",
        "The registry knows whom to ask.",
        "What the REST API answers.",
        "answer = api.get(path)",
    ],
)
def test_an_idiom_is_found_even_across_lines(text: str) -> None:
    assert list(findings(text))


@pytest.mark.parametrize(
    "text",
    [
        "`cut_short_job_ids`, recommended, marshalled, Swiss, revisited, mendable, essays, shears",
        "If CDK asks for confirmation, answer no.",
        "a known machine",
    ],
)
def test_words_inside_names_and_a_persons_answer_are_not_found(text: str) -> None:
    assert list(findings(text)) == []
