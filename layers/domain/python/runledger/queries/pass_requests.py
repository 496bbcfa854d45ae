"""What a person orders of the reconciler: it works on its own, and its result is read later under the order's id."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from runledger.model import message_format
from runledger.model.passes import PassKind, new_id
from runledger.platform.availability import reaching
from runledger.tables.passes import PassesTable


@dataclass(frozen=True, slots=True, kw_only=True)
class Orders:
    lambdas: Any
    function: str
    passes: PassesTable

    def run(self, kind: PassKind, *, at: str, requested_by: str) -> str:
        return self._order(kind, {"pass": kind}, at=at, requested_by=requested_by)

    def clean(self, runner_id: str, *, at: str, requested_by: str, installations: Iterable[int] | None) -> str:
        """`installations` limit the caller: the machine must still be one of theirs when it is stopped."""
        what = {"clean": runner_id, "installations": None if installations is None else sorted(installations)}
        return self._order(PassKind.CLEANUP, what, at=at, requested_by=requested_by)

    def _order(self, kind: PassKind, what: dict[str, Any], *, at: str, requested_by: str) -> str:
        """Noted before it is sent: whoever has the id can read how far it is."""
        order_id = new_id(at)
        about = {"pass": kind, "status": "requested", "requested_by": requested_by, "requested_at": at}
        self.passes.note(order_id, at=at, **about)
        self._send(message_format.stamp({**what, "id": order_id, "requested_by": requested_by}))
        return order_id

    @reaching("the reconciler")
    def _send(self, event: dict[str, Any]) -> None:
        self.lambdas.invoke(FunctionName=self.function, InvocationType="Event", Payload=json.dumps(event).encode())
