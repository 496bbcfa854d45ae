"""The installations that may have a machine's registration: its proven owner or, without proof, every installation.

A machine is terminated only after all of them have responded. If one can't be searched, an UnavailableError keeps the
machine running, and the report of the pass shows it.
"""

from collections.abc import Callable, Mapping, Sequence

from runledger.model.dataclass import dataclass
from runledger.model.errors import UnavailableError
from runledger.model.ownership import Proof, Tags, account_of, named_owner
from runledger.model.reports import NO_INSTALLATION
from runledger.model.runner import Runner


@dataclass(frozen=True, slots=True, kw_only=True)
class Owners:
    """`accounts` returns the account of each installation of the App, by installation id. GitHub is asked, because an
    installation may have runners before its first webhook, and accounts may be renamed.

    `former_accounts` returns the recorded installations whose account has, or once had, a name. Another account may
    take the former name of a renamed one.

    `repositories_without_app` returns the repositories whose webhooks come from hooks without an App.
    """

    accounts: Callable[[], Mapping[int, str]]
    former_accounts: Callable[[str], Sequence[int]]
    repositories_without_app: Callable[[], Sequence[str]]

    def to_search(self, runner: Runner, tags: Tags) -> list[int]:
        """Returns the installations whose runners must be listed before this machine may be terminated."""
        if runner.contested_at:
            raise UnavailableError(f"runner {runner.runner_id} is contested by two installations")
        if named := named_owner(tags):
            return [self._named(runner, account_of(named))]
        if runner.proven_by == Proof.EVENT and runner.installation_id is not None:
            if runner.installation_id == NO_INSTALLATION:
                raise UnavailableError(f"runner {runner.runner_id} belongs to no installation of the App")
            return [runner.installation_id]
        return self._all()

    def named_by(self, tags: Tags) -> int | None:
        """Returns the installation of the account in the owner tag. None unless there is exactly one."""
        named = named_owner(tags)
        found = self._of_account(account_of(named)) if named else []
        return found[0] if len(found) == 1 else None

    def _named(self, runner: Runner, account: str) -> int:
        found = self._of_account(account)
        if runner.proven_by == Proof.EVENT and runner.installation_id in found:
            return runner.installation_id
        if len(found) != 1:
            known = "belongs or belonged to several installations" if found else "has no installation"
            raise UnavailableError(f"the owner tag of runner {runner.runner_id} is {account}, which {known} of the App")
        if runner.proven_by and runner.installation_id not in (NO_INSTALLATION, found[0]):
            # Two proofs disagree, or the account's name now belongs to another account.
            other = runner.installation_id
            raise UnavailableError(
                f"the owner tag of runner {runner.runner_id} is {account}, but installation {other} owns the runner"
            )
        return found[0]

    def _of_account(self, account: str) -> list[int]:
        """Installations of an account that was renamed are included: the tag may be older than the new name."""
        accounts = self.accounts()
        found = {installation_id for installation_id, login in accounts.items() if login.lower() == account}
        return sorted(found | (accounts.keys() & set(self.former_accounts(account)) if found else set()))

    def _all(self) -> list[int]:
        """Fails if a repository without the App belongs to an account without the App: its runners can't be listed."""
        accounts = self.accounts()
        covered = {login.lower() for login in accounts.values()}
        if uncovered := {account_of(repo) for repo in self.repositories_without_app()} - covered:
            raise UnavailableError(f"no GitHub App can list the runners of {', '.join(sorted(uncovered))}")
        if not accounts:
            raise UnavailableError("the GitHub App has no installations")
        return sorted(accounts)
