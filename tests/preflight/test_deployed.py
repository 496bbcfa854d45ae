"""What `make preflight` finds in a deployment: whether webhooks arrive, and alarms reach a subscriber in every region.

Alarms of a region with runners have a topic of their own there.
"""

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from runledger.model.errors import UnavailableError
from runledger_github.app import GitHubApp
from runledger_github.errors import NotFound

from preflight import __main__ as preflight
from preflight import cloudformation
from preflight.deployed import NOT_DEPLOYED, PENDING, Deployed
from preflight.results import Ok, Outcome, Problem, Skipped
from stacks.settings import Settings

CONFIRMED = "arn:aws:sns:us-east-1:000000000000:topic:1"


def alarms(subscriptions: Mapping[str, Sequence[str]]) -> Outcome:
    """The check of alarms with these subscriptions of the topic in each region."""

    def session_in(region: str) -> Any:
        found = [{"SubscriptionArn": each, "Endpoint": "oncall@example.com"} for each in subscriptions[region]]
        paginator = SimpleNamespace(paginate=lambda TopicArn: [{"Subscriptions": found}])  # noqa: ARG005, N803
        return SimpleNamespace(client=lambda _: SimpleNamespace(get_paginator=lambda _: paginator))

    topics = {region: f"arn:aws:sns:{region}:000000000000:topic" for region in subscriptions}
    settings = Settings.read(lambda _: None)
    return Deployed(session=None, settings=settings, outputs={}, topics=topics, session_in=session_in).alarms()


def test_a_confirmed_subscriber_in_each_region_is_ok() -> None:
    assert alarms({"us-east-1": [CONFIRMED, PENDING], "eu-west-1": [CONFIRMED]}) == Ok("2 subscriber(s)")
    assert alarms({}) == NOT_DEPLOYED


@pytest.mark.parametrize(
    ("there", "detail", "step"),
    [
        ([], "the alarms in eu-west-1 have no subscriber", "--region eu-west-1"),
        ([PENDING], "oncall@example.com hasn't confirmed its subscription in eu-west-1", "follow the link"),
    ],
)
def test_a_region_without_a_confirmed_subscriber_is_a_problem(there: list[str], detail: str, step: str) -> None:
    found = alarms({"us-east-1": [CONFIRMED], "eu-west-1": there})
    assert isinstance(found, Problem)
    assert found.detail == detail
    assert step in found.next_step


def test_the_topics_are_those_of_the_deployment_and_of_its_forwarders(monkeypatch: pytest.MonkeyPatch) -> None:
    forwarder = "runledger-prod-eu-west-1-to-us-east-1"

    def find_stack(session: Any, name: str) -> Any:
        found = (session.region_name, name) == ("eu-west-1", forwarder)
        return SimpleNamespace(outputs={"AlarmTopicArn": "far"}) if found else None

    monkeypatch.setattr(cloudformation, "find_stack", find_stack)
    monkeypatch.setattr(preflight, "_session", lambda region: SimpleNamespace(region_name=region))
    settings = Settings.read({"runner_regions": "us-east-1,eu-west-1,ap-southeast-2"}.get)
    stacks = [SimpleNamespace(outputs={}), SimpleNamespace(outputs={"AlarmTopicArn": "near"})]
    here = SimpleNamespace(region_name="us-east-1")
    assert dict(preflight._alarm_topics(here, settings, stacks)) == {"us-east-1": "near", "eu-west-1": "far"}  # type: ignore[arg-type]


@pytest.mark.parametrize(("installations", "is_ok"), [(0, False), (2, True)])
def test_a_deployment_that_no_webhook_has_reached_is_a_problem(installations: int, is_ok: bool) -> None:
    table = SimpleNamespace(query=lambda **_: {"Count": installations})
    outputs = {"WorkflowJobsTable": "jobs", "WebhookUrl": "https://example.com/webhooks/github"}
    deployed = Deployed(
        session=SimpleNamespace(client=lambda _: table),
        settings=Settings.read(lambda _: None),
        outputs=outputs,
        topics={},
        session_in=lambda _: None,
    )
    found = deployed.webhook()
    assert isinstance(found, Ok if is_ok else Problem)
    assert is_ok or outputs["WebhookUrl"] in str(found)


@pytest.mark.parametrize(
    ("secret", "installations", "state", "detail"),
    [
        ("{}", [], Skipped, "there is no GitHub App"),
        ("not a key", [], Problem, "GitHub doesn't accept it"),
        ("a key", NotFound("/app"), Problem, "GitHub doesn't accept it"),
        ("a key", UnavailableError("GitHub"), Problem, "GitHub didn't respond"),
        ("a key", [], Problem, "isn't installed"),
        ("a key", [1, 2], Ok, "2 installation(s)"),
    ],
)
def test_the_key_of_the_app_must_be_one_that_github_accepts(
    monkeypatch: pytest.MonkeyPatch, secret: str, installations: list[int] | Exception, state: type, detail: str
) -> None:
    def listed() -> list[int]:
        if isinstance(installations, Exception):
            raise installations
        return installations

    if secret == "a key":
        monkeypatch.setattr(GitHubApp, "from_secret", lambda *_, **__: SimpleNamespace(installations=listed))
    secrets = SimpleNamespace(get_secret_value=lambda **_: {"SecretString": secret})
    found = Deployed(
        session=SimpleNamespace(client=lambda _: secrets),
        settings=Settings.read(lambda _: None),
        outputs={"GitHubAppSecretArn": "app"},
        topics={},
        session_in=lambda _: None,
    ).app_key()
    assert isinstance(found, state)
    assert detail in found.detail
