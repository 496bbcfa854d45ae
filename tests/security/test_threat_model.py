"""The threat model names tests that exist, and every file of tests here is in it."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
DOCUMENT = (ROOT / "docs" / "security.md").read_text()


def test_every_test_that_the_threat_model_names_exists() -> None:
    written = {
        name for file in (ROOT / "tests").rglob("test_*.py") for name in re.findall(r"def (test_\w+)", file.read_text())
    }
    named = set(re.findall(r"`(test_\w+)`", DOCUMENT))
    assert len(named) > 30
    assert named - written == set()
    paths = re.findall(r"`(tests/[\w/]+\.py)`", DOCUMENT)
    assert paths
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_every_file_of_security_tests_is_named_in_the_threat_model() -> None:
    explained_elsewhere = {"test_threat_model.py", "test_github_app_guide.py"}  # documents, not attacks
    files = list(Path(__file__).parent.glob("test_*.py"))
    assert len(files) > 20
    for file in files:
        tests = re.findall(r"def (test_\w+)", file.read_text())
        assert file.name in explained_elsewhere or any(f"`{name}`" in DOCUMENT for name in tests), file.name
