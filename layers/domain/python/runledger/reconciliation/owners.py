"""Where a machine's registration could be: with its proven owner, or, without proof, with any installation.

A machine is stopped only after every place that could hold its registration has answered. So a place that cannot be
searched raises an UnavailableError, which keeps the machine alive and is shown with the pass.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from runledger.errors import UnavailableError
from runledger.machines import Runner
from runledger.ownership import NO_INSTALLATION, Proof, Tags, account_of, named_owner
from runledger.reports import InstallationStatus

Registered = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Owners:
    """`installations` lists all that are registered; `repositories` those of one of them."""

    installations: Callable[[], Registered]
    repositories: Callable[[int], Sequence[str]]

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
        """The one installation of the account that a tag names, if it is known."""
        named = named_owner(tags)
        found = self._of_account(account_of(named)) if named else []
        return found[0] if len(found) == 1 else None

    def _named(self, runner: Runner, account: str) -> int:
        found = self._of_account(account)
        if len(found) != 1:
            known = "several installations" if found else "no installation"
            raise UnavailableError(f"a tag of runner {runner.runner_id} names {account}, which has {known} here")
        if runner.proven_by == Proof.EVENT and runner.installation_id not in (NO_INSTALLATION, found[0]):
            other = runner.installation_id
            raise UnavailableError(f"a tag of runner {runner.runner_id} names {account}, an event installation {other}")
        return found[0]

    def _of_account(self, account: str) -> list[int]:
        return [
            each["installation_id"]
            for each in self._existing()
            if each["installation_id"] != NO_INSTALLATION and str(each.get("org_name", "")).lower() == account
        ]

    def _everyone(self) -> list[int]:
        """Hooks without an App cannot be asked: their accounts must be those of installations that can."""
        existing = self._existing()
        accounts = {
            str(each.get("org_name", "")).lower() for each in existing if each["installation_id"] != NO_INSTALLATION
        }
        if any(each["installation_id"] == NO_INSTALLATION for each in existing):
            uncovered = {account_of(repo) for repo in self.repositories(NO_INSTALLATION)} - accounts
            if uncovered:
                raise UnavailableError(f"no GitHub App can list the runners of {', '.join(sorted(uncovered))}")
        found = [each["installation_id"] for each in existing if each["installation_id"] != NO_INSTALLATION]
        if not found:
            raise UnavailableError("no installation is known that could be asked")
        return found

    def _existing(self) -> Registered:
        """A deletion that GitHub has not confirmed may be forged: such an installation is searched."""
        return [
            each
            for each in self.installations()
            if each.get("status") != InstallationStatus.DELETED or not each.get("confirmed_at")
        ]
