"""Requests for a pass of the reconciler. A pass runs asynchronously; its result is stored under the request's id."""

import json
from collections.abc import Iterable
from typing import Any

from runledger.model import message_format
from runledger.model.dataclass import dataclass
from runledger.model.passes import PassKind, PassStatus
from runledger.platform import logs
from runledger.platform.availability import translate_errors
from runledger.tables.passes import PassesTable, new_pass_id


@dataclass(frozen=True, slots=True, kw_only=True)
class PassRequests:
    lambdas: Any
    function: str
    passes: PassesTable

    def run(self, kind: PassKind, *, at: str, requested_by: str) -> str:
        return self._request(kind, {"pass": kind}, at=at, requested_by=requested_by)

    def clean(self, runner_id: str, *, at: str, requested_by: str, installations: Iterable[int] | None) -> str:
        """`installations` limits the caller: the machine must still belong to one of them when it is terminated."""
        options = {"clean": runner_id, "installations": None if installations is None else sorted(installations)}
        return self._request(PassKind.CLEANUP, options, at=at, requested_by=requested_by)

    def _request(self, kind: PassKind, options: dict[str, Any], *, at: str, requested_by: str) -> str:
        """Stores the request before sending it, so that the caller can read its status immediately."""
        pass_id = new_pass_id(at)
        record = {"pass": kind, "status": PassStatus.REQUESTED, "requested_by": requested_by, "requested_at": at}
        self.passes.note(pass_id, at=at, **record)
        request = {**options, "id": pass_id, "requested_by": requested_by}
        self._send(message_format.stamp(request, correlation_id=logs.correlation_id()))
        return pass_id

    @translate_errors("the reconciler")
    def _send(self, event: dict[str, Any]) -> None:
        self.lambdas.invoke(FunctionName=self.function, InvocationType="Event", Payload=json.dumps(event).encode())
