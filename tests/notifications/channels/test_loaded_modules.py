"""Only the sender loads what the network needs: the API checks subscriptions without it."""

import subprocess
import sys

import pytest

from local import ROOT

PRINT = "import sys; sys.path.insert(0, 'layers/domain/python'); import {}; print(*sys.modules)"


def loaded_by(module: str) -> set[str]:
    command = [sys.executable, "-S", "-c", PRINT.format(module)]
    return {*subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()}


@pytest.mark.parametrize(
    "module",
    [
        *("runledger.notifications.channels.interface", "runledger.notifications.channels.configs"),
        *("runledger.notifications.texts", "runledger.notifications.digest"),
    ],
)
def test_checks_and_texts_load_nothing_of_the_network(module: str) -> None:
    found = loaded_by(module)
    assert module in found
    assert not {"ssl", "socket", "http.client", "urllib3", "botocore"} & found
