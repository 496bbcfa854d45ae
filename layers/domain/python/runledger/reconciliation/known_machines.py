"""Which machine ids belong to machines that AWS or a trusted publisher has reported."""

from collections.abc import Iterable

from runledger.model.dataclass import dataclass
from runledger.model.ownership import is_known
from runledger.runners.fleet import Fleet
from runledger.runners.tracker import RunnerTracker


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownMachines:
    fleet: Fleet
    tracker: RunnerTracker

    def among(self, machine_ids: set[str]) -> set[str]:
        """Returns the ids that EC2 or ECS describes or has confirmed, or that a publisher without limits has reported.

        Reports of a limited publisher don't count. It may report any id, and the busy runner of another owner would
        then be taken for that machine.
        """
        described = self.fleet.describe(machine_ids) if machine_ids else {}
        recorded = self.tracker.table.among(machine_ids - described.keys())
        return {*described, *(each for each, runner in recorded.items() if is_known(runner))}

    def confirmed_in_scope(self, runner_ids: Iterable[str]) -> list[str]:
        """Machines in scope that EC2 or ECS has reported before. If they aren't there now, they are gone."""
        found = self.tracker.table.among(runner_ids)
        return [runner_id for runner_id, runner in found.items() if self.tracker.is_confirmed_in_scope(runner)]
