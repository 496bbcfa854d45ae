"""The arguments of conditional updates."""

from runledger.model.inputs import Status
from runledger.tables.updates import advance_arguments


def test_an_advance_keeps_the_values_that_the_callers_condition_names() -> None:
    arguments = advance_arguments(Status.WAITING, unless="#owner = :owner", names=("owner",), given={"owner": "a"})
    assert arguments["given"] == {"owner": "a", "status0": Status.QUEUED}
