"""The dashboard and the page with the OpenAPI document, as they are built into the API's layer."""

import gzip
import re
from pathlib import Path

import pytest

from stacks.constructs import web

SOURCES = sorted((web.WEB / "src").rglob("*.js"))
# Where text could become more than text.
PARSERS = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|\beval\(|new Function")


def built(folder: Path) -> dict[str, str]:
    web.build(folder)
    files = [file for file in folder.rglob("*") if file.is_file()]
    assert {file.suffix for file in files} == {".gz"}
    return {
        str(file.relative_to(folder)).removesuffix(".gz"): gzip.decompress(file.read_bytes()).decode() for file in files
    }


def test_each_page_names_its_assets_by_their_content(tmp_path: Path) -> None:
    files = built(tmp_path)
    pages = {page: re.findall(r'(?:src|href)="(assets/[^"]+)"', files[page]) for page in web.PAGES}
    assert {*web.PAGES, *(name for names in pages.values() for name in names)} == files.keys()
    assert all(re.fullmatch(r"assets/[\w-]+-[A-Z0-9]{8}\.(js|css)", name) for names in pages.values() for name in names)
    assert (len(pages["index.html"]), len(pages["docs.html"])) == (2, 3)


def test_the_same_sources_give_the_same_bytes(tmp_path: Path) -> None:
    def content(folder: Path) -> dict[str, bytes]:
        web.build(folder)
        return {file.name: file.read_bytes() for file in folder.rglob("*.gz")}

    assert content(tmp_path / "once") == content(tmp_path / "again")


def test_nothing_is_loaded_from_anywhere_else(tmp_path: Path) -> None:
    ours = [text for name, text in built(tmp_path).items() if "swagger-ui-" not in name]
    addresses = {each for text in ours for each in re.findall(r"https?://[\w.-]+", text)}
    # The name of SVG, which is never requested, and where links for people lead.
    assert addresses <= {"http://www.w3.org", "https://github.com"}


@pytest.mark.parametrize("name", web.PAGES)
def test_a_page_holds_no_script_and_no_style_of_its_own(name: str) -> None:
    page = (web.WEB / name).read_text()
    assert not re.search(r"<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)", page)


@pytest.mark.parametrize("file", SOURCES, ids=lambda file: str(file.relative_to(web.WEB)))
def test_text_only_ever_becomes_text(file: Path) -> None:
    assert not PARSERS.search(file.read_text())
