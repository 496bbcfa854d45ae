"""A function that Lambda restores from a snapshot shares neither connections nor random state with its copies."""

import random
import sys
from pathlib import Path

import pytest
from runledger.platform.snapshots import renew_after_restore

RUNTIME = "hooks = []\n\ndef register_after_restore(hook):\n    hooks.append(hook)\n"


class Client:
    closed = 0

    def close(self) -> None:
        self.closed += 1


def test_after_a_restore_connections_and_random_seeds_are_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "snapshot_restore_py.py").write_text(RUNTIME)
    monkeypatch.syspath_prepend(tmp_path)
    clients: list[Client] = []
    renew_after_restore(clients)
    clients.append(Client())  # made after the registration, as clients are
    (renew,) = sys.modules["snapshot_restore_py"].hooks
    snapshot = random.getstate()
    drawn = []
    for _ in range(2):
        random.setstate(snapshot)
        renew()
        drawn.append(random.random())  # noqa: S311
    assert drawn[0] != drawn[1]
    assert clients[0].closed == 2
    del sys.modules["snapshot_restore_py"]


def test_without_snap_start_no_hook_is_registered() -> None:
    renew_after_restore([Client()])
    assert "snapshot_restore_py" not in sys.modules
