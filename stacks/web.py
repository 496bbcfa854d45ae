"""Builds the dashboard: one script and one style sheet, so that a first view wakes few functions."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).parent.parent
WEB = ROOT / "web"
ESBUILD = ROOT / "node_modules" / ".bin" / "esbuild"
ENTRIES = (WEB / "src" / "app.js", WEB / "styles" / "app.css")
OPTIONS = ("--bundle", "--minify", "--format=esm", "--target=es2022", "--charset=utf8", "--log-level=warning")


def build(target: Path) -> None:
    """Write index.html, and the assets that it names by their content."""
    assets = target / "assets"
    names = ("--entry-names=[name]-[hash]", f"--outdir={assets}")
    subprocess.run((ESBUILD, *ENTRIES, *OPTIONS, *names), check=True)  # noqa: S603
    page = (WEB / "index.html").read_text()
    for entry in ENTRIES:
        (built,) = assets.glob(f"{entry.stem}-*{entry.suffix}")
        page = page.replace(f'"{entry.name}"', f'"assets/{built.name}"')
    (target / "index.html").write_text(page)


def sources() -> list[Path]:
    """What the result follows from."""
    return [*sorted(file for file in WEB.rglob("*") if file.is_file()), ROOT / "package-lock.json"]
