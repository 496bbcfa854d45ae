"""Clients with canned responses, each for one expected request."""

from contextlib import ExitStack
from typing import Any

import boto3
from botocore.stub import Stubber


class Stubs:
    def __init__(self, closing: ExitStack) -> None:
        self._closing = closing
        self._stubbers: dict[str, Stubber] = {}
        self._clients: dict[str, Any] = {}

    def client(self, service: str) -> Any:
        if service not in self._clients:
            # The type of the client is known from a literal name only.
            make: Any = boto3.client
            self._clients[service] = make(service)
            self._stubbers[service] = self._closing.enter_context(Stubber(self._clients[service]))
        return self._clients[service]

    def respond(
        self, service: str, call: str, response: dict[str, Any], expected: dict[str, Any] | None = None
    ) -> None:
        self.client(service)
        self._stubbers[service].add_response(call, response, expected)

    def refuse(self, service: str, call: str, code: str, message: str = "no") -> None:
        self.client(service)
        self._stubbers[service].add_client_error(call, code, message)

    def assert_all_called(self) -> None:
        for stubber in self._stubbers.values():
            stubber.assert_no_pending_responses()
