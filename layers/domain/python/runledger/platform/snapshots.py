"""Lambda SnapStart: functions restored from one snapshot must not share connections and random state."""

import importlib
import importlib.util
import random
from collections.abc import Callable, Iterable
from typing import Protocol


class Client(Protocol):
    def close(self) -> None: ...


def renew_after_restore(clients: Iterable[Client]) -> None:
    """Connections in a snapshot are closed, and its random state would give every copy the same retry delays."""
    if register := _register():

        def renew() -> None:
            random.seed()
            for client in clients:
                client.close()  # empties its pool; the next call opens a new connection

        register(renew)


def _register() -> Callable[[Callable[[], None]], object] | None:
    """The Lambda runtime includes the module; elsewhere nothing is restored."""
    if importlib.util.find_spec("snapshot_restore_py") is None:
        return None
    register: Callable[[Callable[[], None]], object]
    register = importlib.import_module("snapshot_restore_py").register_after_restore
    return register
