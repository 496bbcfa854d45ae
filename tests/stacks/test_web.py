"""The dashboard as it is built into the API's layer."""

import re
from pathlib import Path

import pytest

from stacks import web

SOURCES = sorted((web.WEB / "src").rglob("*.js"))
# Where text could become more than text.
PARSERS = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|\beval\(|new Function")


def built(folder: Path) -> dict[str, str]:
    web.build(folder)
    return {str(file.relative_to(folder)): file.read_text() for file in folder.rglob("*") if file.is_file()}


def test_the_page_names_one_script_and_one_style_sheet_by_their_content(tmp_path: Path) -> None:
    files = built(tmp_path)
    named = re.findall(r'(?:src|href)="(assets/app-[A-Z0-9]{8}\.(?:js|css))"', files["index.html"])
    assert {"index.html", *named} == files.keys()
    assert len(named) == 2


def test_the_same_sources_give_the_same_names(tmp_path: Path) -> None:
    assert built(tmp_path / "once") == built(tmp_path / "again")


def test_nothing_is_loaded_from_anywhere_else(tmp_path: Path) -> None:
    addresses = {each for text in built(tmp_path).values() for each in re.findall(r"https?://[\w.-]+", text)}
    # The name of SVG, which nobody asks for, and where links for people lead.
    assert addresses <= {"http://www.w3.org", "https://github.com"}


def test_the_page_holds_no_script_and_no_style_of_its_own() -> None:
    page = (web.WEB / "index.html").read_text()
    assert not re.search(r"<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)", page)


@pytest.mark.parametrize("file", SOURCES, ids=lambda file: str(file.relative_to(web.WEB)))
def test_text_only_ever_becomes_text(file: Path) -> None:
    assert not PARSERS.search(file.read_text())
