"""What the demo sends about releases: GitHub could send it, and the ledger reads all of it."""

import json
from collections import Counter
from datetime import UTC, datetime

import pytest
from runledger.model.packages import PublishedBy
from runledger.webhooks.delivery import Delivery as Received
from runledger.webhooks.readers import dispatcher, publications

from local.demo.github_records import records
from local.demo.payloads.publications import release_published
from local.demo.releases import DEPENDENTS, PACKAGE
from local.demo.scenarios.catalogue import all_steps
from local.demo.scenarios.releases import CHECKOUT, INSTALLATION, PRODUCTION, UI, history
from local.github import records as github
from tests.local.test_demo_workload import MACHINES
from tests.local.webhook_schemas import faults

NOW = datetime(2025, 1, 15, 10, tzinfo=UTC)
SENT = history(NOW)


def _received(event: str, payload: object) -> Received:
    return Received(
        event=event,
        delivery_id="1",
        body=json.dumps(payload).encode(),
        received_at="2025-01-15T10:00:00.000Z",
        received_by="a-log-stream",
    )


def test_the_same_moment_gives_the_same_deliveries_and_none_is_from_the_future() -> None:
    assert history(NOW) == SENT
    assert max(each.sent_at for each in SENT) <= NOW
    assert set(Counter(each.delivery_id for each in SENT).values()) == {1}


def test_ids_are_other_than_those_of_the_other_scenarios() -> None:
    others = {each.subject.id for each in all_steps(NOW, machines=MACHINES)}
    assert not others & {each.subject.id for each in SENT}


@pytest.mark.parametrize("event", ["workflow_run", "deployment", "deployment_status"])
def test_payloads_have_the_shape_that_github_describes(event: str) -> None:
    sent = [each for each in SENT if each.event == event]
    assert sent
    assert [fault for each in sent for fault in faults(event, each.payload)] == []


def test_intake_reads_every_delivery() -> None:
    for each in SENT:
        found = dispatcher.read(_received(each.event, each.payload))
        assert [record.installation_id for record in found] == [INSTALLATION]


def test_the_published_release_is_one_that_github_would_send_and_names_its_tag() -> None:
    payload = release_published(UI, "v1.5.0", NOW)
    assert faults("release", payload) == []
    found = publications.read(_received("release", payload))
    assert found is not None
    assert (found.published_by, found.tag, found.repo_full_name) == (PublishedBy.RELEASE, "v1.5.0", UI.full_name)
    assert found.published_at == "2025-01-15T10:00:00.000Z"


def test_github_has_the_deployments_with_the_rollback_as_the_last_one() -> None:
    found = [each for each in records(SENT) if isinstance(each, github.Deployment)]
    production = [each for each in found if (each.repository, each.environment) == (CHECKOUT.full_name, PRODUCTION)]
    assert [each.statuses[-1]["state"] for each in production] == [
        *("inactive", "failure", "inactive", "inactive", "success")
    ]
    assert production[-1].sha == production[1].sha != production[-2].sha


def test_three_packages_depend_on_the_released_one_and_one_of_them_also_on_another() -> None:
    assert all(PACKAGE in each.dependencies for each in DEPENDENTS)
    names = {each.name for each in DEPENDENTS}
    assert [each.name for each in DEPENDENTS if names & each.dependencies.keys()] == ["@acme/checkout"]
    assert [each.conclusion for each in DEPENDENTS] == ["success", "success", "failure"]
