"""docs/api.md has a row for each request of the API, with its parameters. The feed has a document of its own."""

import re
from collections.abc import Iterator
from typing import Any

from runledger_api import openapi
from runledger_api.app import build_resolver

from tests.support.documents import rows, section

INSTALLATION = "/v1/installations/{installation_id}/"
REQUEST = re.compile(r"`((?:GET|POST|PUT|PATCH|DELETE) [^`?]+)[^`]*`")
# The section Lists describes them.
OF_LISTS = {"limit", "cursor"}


def shape(request: str) -> str:
    """Without the names of the parts of the path, which are shorter in the document."""
    return re.sub(r"\{\w+\}", "*", request)


def documented() -> dict[str, str]:
    """The text of the row, by request."""
    return {
        shape(found): " ".join(row) for row in rows(section("api.md", "Requests")) for found in REQUEST.findall(row[0])
    }


def operations() -> Iterator[tuple[str, set[str]]]:
    """Each request, and the names of its query parameters."""
    paths: dict[str, dict[str, Any]] = openapi.build(build_resolver())["paths"]
    for path, methods in paths.items():
        for method, operation in methods.items():
            named = {each["name"] for each in operation.get("parameters", ()) if each["in"] == "query"}
            yield shape(f"{method.upper()} {path.removeprefix(INSTALLATION)}"), named


def test_every_request_is_documented_and_no_other() -> None:
    assert {request for request, _ in operations() if not request.split()[1].startswith("feed")} == {*documented()}


def test_the_row_of_a_request_names_its_parameters() -> None:
    texts = documented()
    missing = {
        (request, name)
        for request, names in operations()
        for name in names - OF_LISTS
        if request in texts and not re.search(rf"[?&]{name}=|`{name}[`=]", texts[request])
    }
    assert missing == set()
