"""Authorization: the role that a request requires.

Every read requires the role reader. Every write declares its role beside its route, with `requires`: a write route
without one stops the API from starting. A write that matches no route requires the role operator.
"""

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from aws_lambda_powertools.event_handler.api_gateway import APIGatewayHttpResolver
from aws_lambda_powertools.event_handler.api_gateway import Route as PowertoolsRoute

from runledger_api.authentication import Role

READ_METHODS = ("GET", "HEAD", "OPTIONS")
DECLARED = "required_role"

Handler = TypeVar("Handler", bound=Callable[..., Any])


class UndeclaredRole(Exception):
    def __init__(self, method: str, path: str) -> None:
        super().__init__(f"{method} {path} declares no role: add @requires(Role.…) to its handler")


class DeclaredRead(Exception):
    def __init__(self, method: str, path: str) -> None:
        super().__init__(f"{method} {path} declares a role, but every read requires the role reader")


def requires(role: Role) -> Callable[[Handler], Handler]:
    """Declares the role of a write, on the handler of its route."""

    def declare(handler: Handler) -> Handler:
        setattr(handler, DECLARED, role)
        return handler

    return declare


def is_write(method: str) -> bool:
    return method not in READ_METHODS


def required_role(resolver: APIGatewayHttpResolver, method: str, path: str) -> Role:
    """Matches the route as Powertools does, because a caller must be authorized before Powertools validates a request.

    `path` is normalised: see `paths`.
    """
    if not is_write(method):
        return Role.READER
    matching = (route for route in _routes(resolver) if route.method == method and route.rule.match(path))
    route = next(matching, None)
    return _declared(route) if route else Role.OPERATOR


def check_declarations(resolver: APIGatewayHttpResolver) -> None:
    """Raises UndeclaredRole for a write route without a role, and DeclaredRead for a read whose role has no effect."""
    for route in _routes(resolver):
        if is_write(route.method):
            _declared(route)
        elif hasattr(route.func, DECLARED):
            raise DeclaredRead(route.method, route.path)


def _routes(resolver: APIGatewayHttpResolver) -> Iterator[PowertoolsRoute]:
    """In the order in which Powertools tries them."""
    yield from resolver._static_routes
    yield from resolver._dynamic_routes


def _declared(route: PowertoolsRoute) -> Role:
    role = getattr(route.func, DECLARED, None)
    if not isinstance(role, Role):
        raise UndeclaredRole(route.method, route.path)
    return role
