"""Four repositories over four days: workflows turn red and green, versions are deployed, and one is rolled back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise

from local.demo.generator import STOREFRONT, Generator
from local.demo.payloads.deployments import State, deployment_created, deployment_state
from local.demo.payloads.entities import Delivery, Deployment, Job, Repository, Run
from local.demo.payloads.runs import run_delivery

INSTALLATION = STOREFRONT.installation_id
UI = Repository(full_name="acme/ui", id=610001011, private=True, installation_id=INSTALLATION)
FORMS = Repository(full_name="acme/forms", id=610001012, private=True, installation_id=INSTALLATION)
ADMIN = Repository(full_name="acme/admin", id=610001013, private=True, installation_id=INSTALLATION)
CHECKOUT = Repository(full_name="acme/checkout", id=610001014, private=True, installation_id=INSTALLATION)

# Above all ids of the other scenarios, also of those that are played years later.
AFTER = 100_000_000_000
STAGING, PRODUCTION = "staging", "production"
RELEASED, WITHDRAWN = "2.3.0", "2.4.0"  # of the checkout: the second is rolled back to the first


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    repository: Repository
    sha: str
    at: datetime


def history(now: datetime, seed: int = 1) -> list[Delivery]:
    """Deliveries in order. The same time and seed produce the same deliveries."""
    generator = Generator(now, seed, after=AFTER)
    found = [*_ui(generator), *_forms(generator), *_admin(generator), *_checkout(generator)]
    return sorted(found, key=lambda each: each.sent_at)


def _ui(generator: Generator) -> Iterator[Delivery]:
    """CI turns red and is green again; the documentation has been red since."""
    results = ((92, "success", "success"), (71, "success", "success"), (50, "failure", "success"))
    for hours, tests, documentation in (*results, (46, "failure", "failure"), (27, "success", "failure")):
        commit = _commit(generator, UI, hours)
        yield from _run(generator, commit, "CI", tests)
        yield from _run(generator, commit, "Docs", documentation)


def _forms(generator: Generator) -> Iterator[Delivery]:
    for hours in (60, 20):
        yield from _run(generator, _commit(generator, FORMS, hours), "CI", "success")


def _admin(generator: Generator) -> Iterator[Delivery]:
    """The new version is on staging, and is being deployed to production."""
    old, new = (_commit(generator, ADMIN, hours) for hours in (75, 8))
    for commit in (old, new):
        yield from _run(generator, commit, "CI", "success")
    yield from _deployed(generator, STAGING, [(old, "1.7.0", 74, "success"), (new, "1.8.0", 7, "success")])
    yield from _deployed(generator, PRODUCTION, [(old, "1.7.0", 73, "success"), (new, "1.8.0", 1, "in_progress")])


def _checkout(generator: Generator) -> Iterator[Delivery]:
    """One deployment fails and is repeated. The last version is withdrawn: the one before is deployed again."""
    first, second, third = (_commit(generator, CHECKOUT, hours) for hours in (90, 52, 28))
    for commit in (first, second, third):
        yield from _run(generator, commit, "CI", "success")
    yield from _deployed(
        generator,
        STAGING,
        [(first, "2.2.0", 89, "success"), (second, RELEASED, 51, "success"), (third, WITHDRAWN, 27, "success")],
    )
    yield from _deployed(
        generator,
        PRODUCTION,
        [
            (first, "2.2.0", 86, "success"),
            (second, RELEASED, 49, "failure"),
            (second, RELEASED, 47, "success"),
            (third, WITHDRAWN, 24, "success"),
            (second, RELEASED, 22, "success"),
        ],
    )


def _commit(generator: Generator, repository: Repository, hours_ago: int) -> Commit:
    return Commit(repository=repository, sha=generator.sha(), at=generator.ago(hours=hours_ago))


def _run(generator: Generator, commit: Commit, workflow: str, conclusion: str) -> Iterator[Delivery]:
    run = _new_run(generator, commit, workflow, commit.at + timedelta(minutes=1))
    yield run_delivery(run, "requested", run.created_at)
    yield run_delivery(run, "completed", run.created_at + timedelta(minutes=6), conclusion=conclusion)


def _new_run(generator: Generator, commit: Commit, workflow: str, at: datetime) -> Run:
    return Run(
        id=generator.new_id(),
        attempt=1,
        workflow_name=workflow,
        repository=commit.repository,
        head_sha=commit.sha,
        head_branch="main",
        created_at=at,
        started_at=at,
        committed_at=commit.at,
    )


def _deployed(generator: Generator, environment: str, plan: list[tuple[Commit, str, int, State]]) -> Iterator[Delivery]:
    """Deployments by a workflow, oldest first. One that succeeds makes the one before it inactive, as on GitHub."""
    succeeded = []
    for commit, version, hours, state in plan:
        run = _new_run(generator, commit, "Deploy", generator.ago(hours=hours))
        job = Job(id=generator.new_id(), run=run, name="deploy", labels=(), created_at=run.created_at)
        deployment = Deployment(id=generator.new_id(), environment=environment, version=version)
        ended = run.created_at + timedelta(minutes=5)
        yield run_delivery(run, "requested", run.created_at)
        yield deployment_created(job, deployment, run.created_at + timedelta(seconds=5))
        yield deployment_state(job, deployment, state, ended)
        if state in ("success", "failure"):
            yield run_delivery(run, "completed", ended + timedelta(seconds=10), conclusion=state)
        if state == "success":
            succeeded.append((job, deployment, ended))
    for (job, deployment, _), (_, _, replaced_at) in pairwise(succeeded):
        yield deployment_state(job, deployment, "inactive", replaced_at + timedelta(seconds=1))
