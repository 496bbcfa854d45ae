"""Runners as their table holds them, without the jobs that they work for."""

from runledger.model.assignments import Assignment
from runledger.model.ownership import Proof
from runledger.model.runner import Runner
from runledger.tables.runners import RunnersTable


def launched(
    table: RunnersTable,
    runner_id: str,
    *,
    installation_id: int,
    job_id: int,
    at: str,
    repo_full_name: str | None = None,
    kind: str = "ec2",
) -> Runner:
    """A runner that a launcher started for a job."""
    plan = Assignment(
        installation_id=installation_id, job_id=job_id, since=at, is_plan=True, repo_full_name=repo_full_name
    )
    owner = {"installation_id": installation_id, "proven_by": Proof.EVENT, "kind": kind}
    return table.change(runner_id, at=at, change=lambda runner: runner.with_values(**owner).assigned(plan))


def claimed(
    table: RunnersTable,
    runner_id: str,
    *,
    installation_id: int,
    job_id: int,
    at: str,
    repo_full_name: str | None = None,
    owner_name: str | None = None,
) -> Runner:
    """A runner that a job runs on. A tag that names the owner proves it."""
    fact = Assignment(
        installation_id=installation_id, job_id=job_id, since=at, is_plan=False, repo_full_name=repo_full_name
    )
    owner = {
        "installation_id": installation_id,
        "owner_name": owner_name,
        "proven_by": Proof.TAG if owner_name else None,
    }
    return table.change(runner_id, at=at, change=lambda runner: runner.with_values(**owner).assigned(fact))
