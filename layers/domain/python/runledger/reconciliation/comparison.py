"""The two sides that the check of jobs compares: GitHub's records, and what it has read from the tables and AWS."""

from collections.abc import Mapping
from typing import Protocol

from runledger.model.dataclass import dataclass
from runledger.model.job import Job
from runledger.model.keys import RunKey
from runledger.model.reports import RunReport
from runledger.model.stuck import GitHubJob
from runledger.reconciliation.passes import Pass
from runledger.reconciliation.tally import Tally
from runledger.tables.absences import Absence


class GitHubRecords(Protocol):
    """Implemented by runledger_github, a layer that this one must not import. None if GitHub has no such record."""

    def jobs(self, run: RunKey, repo_full_name: str) -> list[GitHubJob] | None: ...
    def job(self, installation_id: int, repo_full_name: str, job_id: int) -> GitHubJob | None: ...
    def run(self, run: RunKey, repo_full_name: str) -> RunReport | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What a check read at its start. `read` and `absent` are by key, `alive` is by machine."""

    github: GitHubRecords
    read: Mapping[tuple[int, int], Job]
    alive: Mapping[str, bool]
    absent: Mapping[str, Absence]
    current: Pass

    @property
    def now(self) -> str:
        return self.current.now

    @property
    def tally(self) -> Tally:
        return self.current.tally
