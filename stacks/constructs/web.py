"""Builds the dashboard and the API reference. Files are compressed at build time, not for each request."""

import gzip
import hashlib
import re
import subprocess
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[2]
WEB = ROOT / "web"
ESBUILD = Path("node_modules") / ".bin" / "esbuild"
# Only packages that a deployment needs, and only files whose hash is in package-lock.json.
INSTALL = ("npm", "ci", "--omit=dev", "--ignore-scripts")
ENTRIES = (WEB / "src" / "app.js", WEB / "styles" / "app.css", WEB / "src" / "docs.js")
OPTIONS = ("--bundle", "--minify", "--format=esm", "--target=es2022", "--charset=utf8", "--log-level=warning")
PAGES = ("index.html", "docs.html")
# Swagger UI comes with Powertools, whose version is pinned.
SWAGGER = Path("event_handler") / "openapi" / "swagger_ui"
SWAGGER_FILES = {"swagger-ui.js": "swagger-ui-bundle.min.js", "swagger-ui.css": "swagger-ui.min.css"}
HASH_DIGITS = 8


def build(target: Path) -> None:
    """Writes the pages and their assets. The names of assets contain a hash of the content. Every file is a .gz."""
    assets = target / "assets"
    names = ("--entry-names=[name]-[hash]", f"--outdir={assets}")
    subprocess.run((bundler(ROOT), *ENTRIES, *OPTIONS, *names), check=True)  # noqa: S603
    built = {entry.name: _only(assets, entry).name for entry in ENTRIES}
    for name, source in SWAGGER_FILES.items():
        built[name] = _copy((_powertools() / SWAGGER / source).read_bytes(), assets, name)
    for page in PAGES:
        (target / page).write_text(_with_assets((WEB / page).read_text(), built))
    for file in [each for each in target.rglob("*") if each.is_file()]:
        _compress(file)


def sources() -> list[Path]:
    """The files that determine the result."""
    return [*sorted(file for file in WEB.rglob("*") if file.is_file()), ROOT / "package-lock.json", Path(__file__)]


def bundler(root: Path) -> Path:
    """Returns esbuild, and installs it first if `cdk deploy` runs without `make install`."""
    if not (root / ESBUILD).exists():
        subprocess.run(INSTALL, cwd=root, check=True, stdout=subprocess.DEVNULL)  # noqa: S603
    return root / ESBUILD


def _powertools() -> Path:
    """Found without an import, because importing it is slow."""
    spec = find_spec("aws_lambda_powertools")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


def _only(assets: Path, entry: Path) -> Path:
    (built,) = assets.glob(f"{entry.stem}-*{entry.suffix}")
    return built


def _copy(content: bytes, assets: Path, name: str) -> str:
    stem, _, suffix = name.rpartition(".")
    named = f"{stem}-{hashlib.sha256(content).hexdigest()[:HASH_DIGITS].upper()}.{suffix}"
    (assets / named).write_bytes(content)
    return named


def _with_assets(page: str, built: dict[str, str]) -> str:
    return re.sub(r'(href|src)="([^":/,]+)"', lambda found: f'{found[1]}="assets/{built[found[2]]}"', page)


def _compress(file: Path) -> None:
    """Without the time, so that the same sources always give the same bytes."""
    file.with_name(f"{file.name}.gz").write_bytes(gzip.compress(file.read_bytes(), 9, mtime=0))
    file.unlink()
