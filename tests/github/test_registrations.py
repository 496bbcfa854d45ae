"""Which registration belongs to a machine."""

from runledger.model.runner import Runner
from runledger.reconciliation.registrations import MachineSearch
from runledger_github.app import GitHubApp
from runledger_github.registrations import Registrations

from tests.github.conftest import ACME
from tests.github.recorded_github import RecordedGitHub


def test_an_id_of_eight_digits_is_not_found_in_a_longer_one(app: GitHubApp, github: RecordedGitHub) -> None:
    github.state.put("runners", 1, scope="acme", name="runner--i-0abc1234def567890")
    github.state.put("runners", 2, scope="acme", name="runner--i-0abc1234")
    machine = Runner(runner_id="i-0abc1234", created_at="2025-01-15T09:00:00.000Z")
    registrations = Registrations(app=app, known_machines=lambda _: ())
    search = MachineSearch(runner=machine, job=None, installation_ids=[ACME], may_ask=lambda _: True)
    assert registrations.remove(search)
    assert set(github.state.runners) == {1}
