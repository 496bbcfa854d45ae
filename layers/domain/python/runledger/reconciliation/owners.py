"""Where a machine's registration could be: with its proven owner, or, without proof, with any installation.

A machine is stopped only after every place that could hold its registration has answered. So a place that cannot be
searched raises an UnavailableError, which keeps the machine alive and is shown with the pass.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from runledger.model.errors import UnavailableError
from runledger.model.ownership import Proof, Tags, account_of, named_owner
from runledger.model.reports import NO_INSTALLATION
from runledger.model.runner import Runner


@dataclass(frozen=True, slots=True, kw_only=True)
class Owners:
    """`accounts` gives GitHub's own list: the account of each installation of the App, by its id.

    An installation that has sent no webhook yet has runners, too, and an account may have been renamed since it did.
    `repositories_without_app` are those whose webhooks come from no App.
    """

    accounts: Callable[[], Mapping[int, str]]
    repositories_without_app: Callable[[], Sequence[str]]

    def to_search(self, runner: Runner, tags: Tags) -> list[int]:
        """The installations whose runners must be listed before this machine may be stopped."""
        if runner.contested_at:
            raise UnavailableError(f"two owners contest runner {runner.runner_id}")
        if named := named_owner(tags):
            return [self._named(runner, account_of(named))]
        if runner.proven_by == Proof.EVENT and runner.installation_id is not None:
            if runner.installation_id == NO_INSTALLATION:
                raise UnavailableError(f"runner {runner.runner_id} belongs to no installation that could be asked")
            return [runner.installation_id]
        return self._everyone()

    def named_by(self, tags: Tags) -> int | None:
        """The one installation of the account that a tag names, if there is one."""
        named = named_owner(tags)
        found = self._of_account(account_of(named)) if named else []
        return found[0] if len(found) == 1 else None

    def _named(self, runner: Runner, account: str) -> int:
        found = self._of_account(account)
        if len(found) != 1:
            known = "several installations" if found else "no installation"
            raise UnavailableError(f"a tag of runner {runner.runner_id} names {account}, which has {known} here")
        if runner.proven_by and runner.installation_id not in (NO_INSTALLATION, found[0]):
            # Two proofs disagree, or the account's name has changed hands.
            other = runner.installation_id
            raise UnavailableError(f"a tag of runner {runner.runner_id} names {account}, but it belongs to {other}")
        return found[0]

    def _of_account(self, account: str) -> list[int]:
        return [installation_id for installation_id, login in self.accounts().items() if login.lower() == account]

    def _everyone(self) -> list[int]:
        """Hooks without an App cannot be asked: their accounts must be those of installations that can."""
        accounts = self.accounts()
        covered = {login.lower() for login in accounts.values()}
        if uncovered := {account_of(repo) for repo in self.repositories_without_app()} - covered:
            raise UnavailableError(f"no GitHub App can list the runners of {', '.join(sorted(uncovered))}")
        if not accounts:
            raise UnavailableError("the GitHub App has no installation that could be asked")
        return sorted(accounts)
