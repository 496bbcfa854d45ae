"""The routes are independent of each other, and leave exceptions to `problems`."""

import re
from pathlib import Path

import pytest
from runledger_api import routes

MODULES = sorted(Path(routes.__file__).parent.glob("[a-z]*.py"))


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.stem)
def test_a_route_imports_no_other_route(module: Path) -> None:
    assert "runledger_api.routes" not in module.read_text()


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.stem)
def test_a_route_turns_no_domain_error_into_an_error_of_the_api(module: Path) -> None:
    text = module.read_text()
    assert "runledger.model.errors" not in text
    assert not re.search(r"except \w+ as \w+:\n\s+raise (InvalidParameter|Conflict|TooManyRequests|NotFound)", text)
