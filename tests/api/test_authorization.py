"""Which role each write requires. A new write fails here until its role is decided."""

import pytest
from aws_lambda_powertools.event_handler.api_gateway import APIGatewayHttpResolver
from runledger_api import openapi
from runledger_api.app import build_resolver
from runledger_api.authentication import Role
from runledger_api.authorization import DeclaredRead, UndeclaredRole, check_declarations, required_role, requires
from runledger_api.paths import normalised

HERE = "/v1/installations/42"
PUBLISHED = {"postFeedEvent", "acknowledge", "putBuild", "putPackage", "putVersion"}
OPERATED = {
    *("createSubscription", "changeSubscription", "deleteSubscription", "testSubscription", "rotateSecret"),
    *("postMessage", "sendAgain", "removeConsumer"),
    *("rerunFailedJobs", "redeliverWebhook", "cleanUpOrphan", "runReconciliation"),
}


@pytest.fixture(scope="module")
def resolver() -> APIGatewayHttpResolver:
    return build_resolver()


def test_every_write_has_a_decided_role(resolver: APIGatewayHttpResolver) -> None:
    decided = dict.fromkeys(PUBLISHED, Role.PUBLISHER) | dict.fromkeys(OPERATED, Role.OPERATOR)
    declared = {
        operation["operationId"]: required_role(resolver, method.upper(), path.format_map(Examples()))
        for path, methods in openapi.build(resolver)["paths"].items()
        for method, operation in methods.items()
        if method != "get"
    }
    assert declared == decided


def test_the_document_states_the_role_of_every_write(resolver: APIGatewayHttpResolver) -> None:
    for methods in openapi.build(resolver)["paths"].values():
        for method, operation in methods.items():
            if method != "get":
                role = Role.PUBLISHER if operation["operationId"] in PUBLISHED else Role.OPERATOR
                assert operation["description"].startswith(f"Requires the role {role}"), operation["operationId"]


def test_a_write_route_without_a_role_stops_the_api_from_starting() -> None:
    resolver = APIGatewayHttpResolver()

    @resolver.post("/v1/installations/<installation_id>/feed/replay")
    def replay(installation_id: int) -> None: ...

    with pytest.raises(UndeclaredRole, match="POST /v1/installations/<installation_id>/feed/replay declares no role"):
        check_declarations(resolver)
    requires(Role.OPERATOR)(replay)
    check_declarations(resolver)
    assert required_role(resolver, "POST", f"{HERE}/feed/replay") is Role.OPERATOR


def test_a_role_on_a_read_stops_the_api_from_starting_because_it_would_have_no_effect() -> None:
    resolver = APIGatewayHttpResolver()

    @resolver.get("/v1/secrets")
    @requires(Role.OPERATOR)
    def secrets() -> None: ...

    with pytest.raises(DeclaredRead, match="GET /v1/secrets declares a role"):
        check_declarations(resolver)


@pytest.mark.parametrize(
    ("method", "path", "role"),
    [
        ("GET", f"{HERE}/packages/ui", Role.READER),
        ("HEAD", f"{HERE}/packages/ui", Role.READER),
        ("GET", "/nowhere", Role.READER),
        ("PUT", f"{HERE}/packages/ui", Role.PUBLISHER),
        ("PUT", f"{HERE}/packages/@acme/ui/versions/1", Role.PUBLISHER),
        ("PUT", f"{HERE}/builds/ui/1", Role.PUBLISHER),
        ("PUT", f"{HERE}/builds/ghcr.io/acme/api/1.0+b", Role.PUBLISHER),
        ("POST", f"{HERE}/feed", Role.PUBLISHER),
        ("POST", f"{HERE}/feed/consumers/x/ack", Role.PUBLISHER),
        ("DELETE", f"{HERE}/feed/consumers/x", Role.OPERATOR),
        ("POST", "/admin/orphans/arn:x:task/a/b/cleanup", Role.OPERATOR),
        ("POST", "/admin/reconciliation/run", Role.OPERATOR),
    ],
)
def test_a_request_requires_the_role_of_its_route(
    resolver: APIGatewayHttpResolver, method: str, path: str, role: Role
) -> None:
    assert required_role(resolver, method, normalised(path)) is role


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("DELETE", f"{HERE}/packages/ui"),
        ("POST", f"{HERE}/builds/ui/1"),
        ("POST", f"{HERE}/feed/consumers"),
        ("PUT", f"{HERE}/feed"),
        ("PUT", f"{HERE}/heads/acme/ui"),
        ("PUT", f"/x{HERE}/builds/ui/1"),
    ],
)
def test_a_write_that_matches_no_route_requires_an_operator(
    resolver: APIGatewayHttpResolver, method: str, path: str
) -> None:
    assert required_role(resolver, method, normalised(path)) is Role.OPERATOR


class Examples(dict[str, str]):
    """A value for each parameter of a path."""

    def __missing__(self, name: str) -> str:
        return "1"
