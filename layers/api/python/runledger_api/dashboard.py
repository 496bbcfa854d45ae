"""The dashboard: a page that is always asked for anew, and assets whose names change with their content."""

from functools import cache
from pathlib import Path

from aws_lambda_powertools.event_handler.api_gateway import APIGatewayHttpResolver, Response

from runledger_api.refusals import NoSuchThing

# Built from web/ when the layer is.
BUILT = Path(__file__).parent / "dashboard_built"
CONTENT_TYPES = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}
FOR_EVER = "public, max-age=31536000, immutable"
POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
PAGE_HEADERS = {
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
}


def serve(app: APIGatewayHttpResolver, built: Path = BUILT) -> None:
    @cache
    def assets() -> dict[str, str]:
        """Read whole and by name: a path that leads out of the folder is no name in it."""
        return {file.name: file.read_text() for file in (built / "assets").glob("*")}

    @app.get("/", include_in_schema=False, compress=True, cache_control="no-cache")
    def page() -> Response[str]:
        file = built / "index.html"
        if not file.exists():
            raise NoSuchThing("this deployment has no dashboard: `make install`, then deploy again")
        body = file.read_text()
        return Response(status_code=200, content_type="text/html; charset=utf-8", headers=dict(PAGE_HEADERS), body=body)

    @app.get("/assets/<name>", include_in_schema=False, compress=True, cache_control=FOR_EVER)
    def asset(name: str) -> Response[str]:
        if name not in assets():
            raise NoSuchThing(f"there is no asset {name}: reload the page")
        return Response(status_code=200, content_type=CONTENT_TYPES[Path(name).suffix], body=assets()[name])
