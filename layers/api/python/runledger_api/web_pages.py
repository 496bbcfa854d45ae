"""The public pages: the dashboard, the API reference, and their assets.

Browsers revalidate a page each time. Assets are cached for a year, because their names contain a hash of their content.
"""

from pathlib import Path

from aws_lambda_powertools.event_handler.api_gateway import APIGatewayHttpResolver, Response

from runledger_api.assets import Assets
from runledger_api.errors import NotFound

# Built from web/ together with the layer.
BUILT = Path(__file__).parent / "dashboard_built"
IMMUTABLE = "public, max-age=31536000, immutable"
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
    pages, assets = Assets(built), Assets(built / "assets")

    def page(name: str) -> Response[str]:
        found = pages.get(name)
        if found is None:
            raise NotFound("This deployment was built without its pages: run `make install` and deploy again")
        return found.respond(accepted_encoding(app), cache_control="no-cache", headers=PAGE_HEADERS)

    @app.get("/", include_in_schema=False)
    def dashboard() -> Response[str]:
        return page("index.html")

    @app.get("/docs", include_in_schema=False)
    def docs() -> Response[str]:
        return page("docs.html")

    @app.get("/assets/<name>", include_in_schema=False)
    def asset(name: str) -> Response[str]:
        found = assets.get(name)
        if found is None:
            raise NotFound(f"Asset {name} was not found: reload the page")
        return found.respond(accepted_encoding(app), cache_control=IMMUTABLE)


def accepted_encoding(app: APIGatewayHttpResolver) -> str | None:
    headers: dict[str, str] = app.current_event.headers
    return headers.get("accept-encoding")
