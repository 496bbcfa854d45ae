"""A scenario: inputs in the order of events, and what the tables must hold in the end, whatever the order."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.simulation.differences import Ignored
from tests.simulation.explore import Flow
from tests.support.webhooks import INSTALLATION, RUN

Expected = Mapping[str, Any]
"""Attributes by name; None is absent."""


@dataclass(frozen=True, kw_only=True)
class Scenario:
    inputs: Mapping[str, Flow]
    jobs: Mapping[Any, Expected]
    """By job id, or by installation and job id."""
    machines: Mapping[str, Expected] = field(default_factory=dict)
    deployments: Mapping[int, Expected] = field(default_factory=dict)
    runs: Mapping[int, Expected] = field(default_factory=dict)
    """By attempt."""
    ignored: Ignored = field(default_factory=dict)
    """What depends on the order of processing in this scenario alone."""


def job_key(job: int | tuple[int, int]) -> str:
    installation_id, job_id = job if isinstance(job, tuple) else (INSTALLATION, job)
    return f"{installation_id}#{job_id}"


def deployment_key(deployment_id: int) -> str:
    return f"{INSTALLATION}#{deployment_id}"


def run_key(attempt: int) -> str:
    return f"{INSTALLATION}#{RUN}#{attempt}"
