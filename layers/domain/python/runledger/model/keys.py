"""The keys of jobs, attempts of runs, and deployments. Pure."""

from typing import NamedTuple

NEWEST_ATTEMPT = 0  # GitHub numbers attempts from 1


class JobKey(NamedTuple):
    installation_id: int
    job_id: int


class RunKey(NamedTuple):
    """One attempt of a run: each attempt has an item, jobs and gates of its own.

    NEWEST_ATTEMPT is for looking up a run whose attempts are unknown.
    """

    installation_id: int
    run_id: int
    run_attempt: int


class DeploymentKey(NamedTuple):
    installation_id: int
    deployment_id: int
