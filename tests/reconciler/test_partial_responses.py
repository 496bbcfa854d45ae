"""An incomplete response of GitHub proves nothing: the machine stays alive."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from runledger.model.errors import UnavailableError
from runledger.model.runner import Runner
from runledger.reconciliation.registrations import MachineSearch
from runledger_github.errors import NotFound, Refused
from runledger_github.registrations import FRESH_SECONDS, Registrations
from runledger_github.runner_lists import PAGE_SIZE

MACHINE = "i-0123456789abcdef0"
OURS, THEIRS = 1, 2
ACCOUNTS = {OURS: "acme", THEIRS: "globex"}


class GitHub:
    """Two organisations with two repositories each. `lists` are the responses of a scope, one for each call."""

    def __init__(self) -> None:
        self.lists: dict[str, list[Any]] = {}
        self.calls: list[str] = []
        self.deleted: list[int] = []
        self.refuse_token: int | None = None

    def find_installation(self, installation_id: int) -> dict[str, Any]:
        account = {"login": ACCOUNTS[installation_id], "type": "Organization"}
        return {"account": account, "suspended_at": None, "repository_selection": "all"}

    def installation(self, installation_id: int) -> "Side":
        return Side(self, installation_id)

    def respond(self, scope: str) -> list[Any]:
        self.calls.append(scope)
        prepared = self.lists.get(scope, [[]])
        response = prepared.pop(0) if len(prepared) > 1 else prepared[0]
        if isinstance(response, Exception):
            raise response
        return list(response)


class Side:
    def __init__(self, github: GitHub, installation_id: int) -> None:
        self.github, self.installation_id = github, installation_id

    def repositories(self) -> list[dict[str, Any]]:
        self._token()
        return [{"full_name": f"{ACCOUNTS[self.installation_id]}/{name}"} for name in ("api", "web")]

    def org_runners(self, org: str) -> Any:
        self._token()
        return self._pages(org)

    def repo_runners(self, repo: str) -> Any:
        self._token()
        return self._pages(repo)

    def _pages(self, scope: str) -> Any:
        for each in self.github.respond(scope):
            if isinstance(each, Exception):
                raise each  # in the middle of paging
            yield each

    def delete_repo_runner(self, _repo: str, runner_id: int) -> None:
        self.github.deleted.append(runner_id)

    delete_org_runner = delete_repo_runner

    def _token(self) -> None:
        if self.github.refuse_token == self.installation_id:
            raise Refused("POST access_tokens", status=403, message="suspended")


def listed(number: int, name: str, *, busy: bool = False) -> dict[str, Any]:
    return {"id": number, "name": name, "busy": busy, "status": "online"}


def machine(**about: Any) -> Runner:
    return Runner(runner_id=MACHINE, created_at="2025-01-15T09:00:00.000Z", **about)


@pytest.fixture
def github() -> GitHub:
    return GitHub()


def remove(github: GitHub, runner: Runner | None = None, *, allowed: int = 1000) -> bool:
    app: Any = github
    registrations = Registrations(app=app, known_machines=lambda _: ())
    may_ask = lambda _: len(github.calls) < allowed  # noqa: E731
    return remove_with(registrations, runner or machine(), may_ask=may_ask)


def remove_with(
    registrations: Registrations,
    runner: Runner,
    *,
    installation_ids: Sequence[int] = (OURS, THEIRS),
    may_ask: Callable[[int], bool] = lambda _: True,
) -> bool:
    """Search and remove a machine's registration, as a cleanup does."""
    search = MachineSearch(runner=runner, job=None, installation_ids=installation_ids, may_ask=may_ask)
    registrations.search(search)
    registrations.search_again(search)
    return registrations.remove(search)


def test_with_every_response_the_machine_is_removed(github: GitHub) -> None:
    github.lists["acme/web"] = [[listed(9, f"x-{MACHINE}")], [listed(9, f"x-{MACHINE}")]]
    assert remove(github)
    assert github.deleted == [9]


@pytest.mark.parametrize("scope", ["acme", "acme/api", "globex", "globex/web"])
@pytest.mark.parametrize(
    "trouble",
    [
        UnavailableError("502"),
        NotFound("GET runners"),
        Refused("GET runners", status=403, message="no permission"),
    ],
    ids=["no response", "404", "403"],
)
@pytest.mark.parametrize("call", [0, 1], ids=["search", "right before the stop"])
def test_one_scope_without_a_response_keeps_the_machine_alive(
    github: GitHub, scope: str, trouble: Exception, call: int
) -> None:
    github.lists[scope] = [trouble] if call == 0 else [[], trouble]
    with pytest.raises(UnavailableError):
        remove(github)
    assert github.deleted == []


def test_an_error_in_the_middle_of_paging_is_no_list(github: GitHub) -> None:
    first_page = [listed(number, f"x-i-{number:017x}") for number in range(1, PAGE_SIZE)]
    github.lists["globex/api"] = [[*first_page, UnavailableError("502 for page 2")]]
    with pytest.raises(UnavailableError):
        remove(github)


def test_a_missing_page_is_noticed_because_two_lists_in_a_row_must_agree(github: GitHub) -> None:
    first_page = [listed(number, f"x-i-{number:017x}") for number in range(1, PAGE_SIZE + 1)]
    whole = [*first_page, listed(900, f"x-{MACHINE}", busy=True)]
    github.lists["globex/api"] = [first_page, whole, whole]
    assert not remove(github)


def test_a_list_that_never_settles_keeps_the_machine_alive(github: GitHub) -> None:
    pages = [[listed(number, f"x-i-{number:017x}") for number in range(start, start + PAGE_SIZE)] for start in range(9)]
    github.lists["acme"] = pages
    with pytest.raises(UnavailableError, match="changes faster"):
        remove(github)


@pytest.mark.parametrize("installation_id", [OURS, THEIRS])
def test_a_token_that_is_refused_for_one_installation_keeps_the_machine_alive(
    github: GitHub, installation_id: int
) -> None:
    github.refuse_token = installation_id
    with pytest.raises(UnavailableError):
        remove(github)


def test_the_response_of_one_installation_is_not_taken_for_all(github: GitHub) -> None:
    github.lists["globex/web"] = [[listed(9, f"x-{MACHINE}", busy=True)]]
    assert not remove(github)
    assert set(github.calls) >= {"acme", "acme/api", "acme/web", "globex", "globex/api", "globex/web"}


@pytest.mark.parametrize("allowed", range(12))
def test_a_budget_that_ends_at_any_call_keeps_the_machine_alive(github: GitHub, allowed: int) -> None:
    """Six lists in the search, and six right before the stop."""
    with pytest.raises(UnavailableError, match="is kept for other work"):
        remove(github, allowed=allowed)
    assert len(github.calls) == allowed


def test_a_recorded_job_that_is_over_does_not_outweigh_a_busy_registration(github: GitHub) -> None:
    github.lists["acme/web"] = [[], [listed(9, f"x-{MACHINE}", busy=True)]]
    with pytest.raises(UnavailableError, match="registered with GitHub again"):
        remove(github, machine(installation_id=OURS, repo_full_name="acme/api", job_id=7))


def test_nothing_is_removed_if_another_installation_has_a_registration(github: GitHub) -> None:
    github.lists["acme/web"] = [[listed(8, f"x-{MACHINE}")]]
    github.lists["globex/web"] = [[listed(9, f"x-{MACHINE}")]]
    with pytest.raises(UnavailableError, match="not its owner"):
        remove(github, machine(installation_id=OURS, repo_full_name="acme/web"))
    assert github.deleted == []


def test_an_account_whose_app_was_installed_again_still_owns_its_machine(github: GitHub) -> None:
    github.lists["acme/web"] = [[listed(8, f"x-{MACHINE}")]]
    assert remove(github, machine(installation_id=77, repo_full_name="acme/web"))
    assert github.deleted == [8]


class Watched:
    """The scopes that are listed for each machine, on a clock that the test moves."""

    def __init__(self, github: GitHub) -> None:
        app: Any = github
        self.github, self.now = github, 1000.0
        self.registrations = Registrations(app=app, known_machines=lambda _: (), clock=lambda: self.now)

    def lists_for(self, number: int, *installation_ids: int, **about: Any) -> list[str]:
        self.github.calls.clear()
        runner = Runner(runner_id=f"i-{number:017x}", created_at="2025-01-15T09:00:00.000Z", **about)
        assert remove_with(self.registrations, runner, installation_ids=installation_ids)
        return sorted(self.github.calls)


def test_machines_that_are_stopped_within_two_minutes_share_the_second_lists(github: GitHub) -> None:
    watched = Watched(github)
    everything = ["acme", "acme/api", "acme/web", "globex", "globex/api", "globex/web"]
    assert watched.lists_for(1, OURS, THEIRS) == sorted(everything * 2)
    assert watched.lists_for(2, OURS, THEIRS) == ["acme", "globex"]
    watched.now += FRESH_SECONDS + 1
    assert watched.lists_for(3, OURS, THEIRS) == everything


def test_only_a_tag_limits_the_second_lists_to_a_repository(github: GitHub) -> None:
    """The repository of the last job doesn't: a machine may register with another one for each job."""
    watched = Watched(github)
    assert watched.lists_for(1, OURS, repo_full_name="acme/web") == sorted(["acme", "acme/api", "acme/web"] * 2)
    watched.now += FRESH_SECONDS + 1
    assert watched.lists_for(2, OURS, owner_name="acme/web") == ["acme", "acme/web"]
    assert watched.lists_for(3, OURS, repo_full_name="acme/web") == ["acme", "acme/api", "acme/web"]


def test_a_scope_that_fails_is_listed_once_for_all_machines(github: GitHub) -> None:
    watched = Watched(github)
    github.lists["acme/api"] = [[], UnavailableError("502")]
    for number in range(1, 11):
        with pytest.raises(UnavailableError):
            watched.lists_for(number, OURS)
    assert "acme/api" not in github.calls
