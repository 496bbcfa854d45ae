"""Responses without a token are small, cacheable and rate limited, whatever the other traffic."""

import base64
import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest
from runledger_api import web_pages

from stacks.constructs import web
from tests.api.client import Client, Response
from tests.api.conftest import api
from tests.functions.conftest import world
from tests.support.synthesis import Templates, of_type, synthesise

__all__ = ["api", "world"]

POLICY = {"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'"}
KEPT = "public, max-age=31536000, immutable"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("built")
    web.build(folder)
    return folder


@pytest.fixture
def site(built: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Client:
    """The API with its pages, called without a token."""
    monkeypatch.setattr(web_pages.serve, "__defaults__", (built,))
    client: Client = request.getfixturevalue("api")
    return client.with_token(None)


def browse(site: Client, path: str, accepted: str | None = "gzip, deflate, br") -> tuple[Response, dict[str, Any]]:
    """The response, and the same as Lambda returns it to API Gateway."""
    raw: dict[str, Any] = {}

    def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
        raw.update(site.handler(event, context))
        return raw | {"headers": {**raw["headers"], "Content-Type": "text/plain"}}

    headers = {} if accepted is None else {"accept-encoding": accepted}
    response = Client(handler=handler, token=None).request("GET", path, headers=headers)
    return response, raw


def text_of(raw: dict[str, Any]) -> str:
    body = base64.b64decode(raw["body"]) if raw["isBase64Encoded"] else raw["body"].encode()
    return (gzip.decompress(body) if raw["headers"].get("Content-Encoding") == "gzip" else body).decode()


def assets_of(site: Client, page: str) -> list[str]:
    _, raw = browse(site, page)
    return re.findall(r'(?:src|href)="(assets/[^"]+)"', text_of(raw))


@pytest.mark.parametrize("path", ["/", "/docs"])
def test_a_page_is_small_and_allows_no_script_but_its_own(site: Client, path: str) -> None:
    response, raw = browse(site, path)
    assert (response.status, raw["headers"]["Cache-Control"]) == (200, "no-cache")
    assert len(raw["body"]) < 2000
    policy = raw["headers"]["Content-Security-Policy"]
    assert set(policy.split("; ")) >= POLICY
    assert "unsafe" not in policy


@pytest.mark.parametrize("page", ["/", "/docs"])
def test_assets_are_compressed_and_kept_for_a_year(site: Client, page: str) -> None:
    for name in assets_of(site, page):
        response, raw = browse(site, f"/{name}")
        assert (response.status, raw["headers"]["Content-Encoding"]) == (200, "gzip")
        assert (raw["headers"]["Cache-Control"], raw["headers"]["Vary"]) == (KEPT, "Accept-Encoding")
        assert len(raw["body"]) < 600_000
        assert text_of(raw)


@pytest.mark.parametrize("path", ["/", "/docs", "/openapi.json"])
def test_nothing_is_compressed_or_read_twice(site: Client, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [path, *(f"/{name}" for name in (assets_of(site, path) if "json" not in path else ()))]
    first = [browse(site, each)[1]["body"] for each in paths]

    def refuse(*_: object, **__: object) -> bytes:
        raise AssertionError("compressed, decompressed or read again")

    monkeypatch.setattr(gzip, "compress", refuse)
    monkeypatch.setattr(gzip, "decompress", refuse)
    monkeypatch.setattr(Path, "read_bytes", refuse)
    assert [browse(site, each)[1]["body"] for each in paths] == first


def test_a_large_file_is_only_sent_compressed(site: Client) -> None:
    (script,) = [name for name in assets_of(site, "/docs") if "swagger-ui" in name and name.endswith(".js")]
    assert browse(site, f"/{script}", "identity")[0].status == 406
    response, raw = browse(site, f"/{script}", None)
    assert (response.status, raw["headers"]["Content-Encoding"]) == (200, "gzip")


def test_small_files_are_readable_without_compression(site: Client) -> None:
    for accepted in (None, "identity"):
        assert "<title>Runledger API</title>" in browse(site, "/docs", accepted)[1]["body"]
        assert json.loads(browse(site, "/openapi.json", accepted)[1]["body"])["paths"]


@pytest.mark.parametrize("name", ["..%2Findex.html", "../index.html", "index.html", "app.js", ".gz", ""])
def test_an_asset_is_found_by_its_exact_name_only(site: Client, name: str) -> None:
    assert browse(site, f"/assets/{name}")[0].status in (401, 404)


LIMITS = {
    "webhook": ["POST /webhooks/github"],
    "api": ["ANY /v1/{proxy+}", "ANY /admin/{proxy+}"],
    "page": ["ANY /", "ANY /docs", "ANY /openapi.json", "ANY /assets/{proxy+}", "ANY /{proxy+}"],
}


def stage(templates: Templates) -> dict[str, Any]:
    (found,) = of_type(templates["api"], "AWS::ApiGatewayV2::Stage").values()
    return found


def test_every_route_has_a_limit_of_its_own_from_the_settings() -> None:
    templates = synthesise(
        webhook_rate_limit="50",
        webhook_burst_limit=60,
        api_rate_limit=30,
        api_burst_limit="40",
        page_rate_limit=10,
        page_burst_limit=20,
    )
    numbers = {"webhook": (50, 60), "api": (30, 40), "page": (10, 20)}
    routes = {each["RouteKey"] for each in of_type(templates["api"], "AWS::ApiGatewayV2::Route").values()}
    found = stage(templates)
    assert found["RouteSettings"].keys() == routes
    for kind, keys in LIMITS.items():
        rate, burst = numbers[kind]
        for key in keys:
            assert found["RouteSettings"][key] == {"ThrottlingRateLimit": rate, "ThrottlingBurstLimit": burst}
    assert found["DefaultRouteSettings"] == {"ThrottlingRateLimit": 10, "ThrottlingBurstLimit": 20}


def test_what_needs_no_token_is_limited_more_than_what_does(templates: Templates) -> None:
    limits = {key: each["ThrottlingRateLimit"] for key, each in stage(templates)["RouteSettings"].items()}
    assert limits["ANY /docs"] < limits["ANY /v1/{proxy+}"] < limits["POST /webhooks/github"]


def test_the_stage_is_made_after_the_routes_that_it_limits(templates: Templates) -> None:
    resources = templates["api"]["Resources"]
    (made,) = [each for each in resources.values() if each["Type"] == "AWS::ApiGatewayV2::Stage"]
    routes = {name for name, each in resources.items() if each["Type"] == "AWS::ApiGatewayV2::Route"}
    assert routes <= set(made["DependsOn"])
