"""Each function reads exactly the environment variables that the stacks give it."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest
from runledger.migration import key_pattern
from runledger.platform import clients
from runledger.wiring import settings
from runledger.wiring.runners import FleetSettings, RunnerSettings
from runledger.wiring.settings import InvalidSetting, MissingSetting, RecordingSettings, TableSettings
from runledger_api import wiring as api_wiring
from runledger_api.wiring import ApiSettings
from runledger_github.wiring import RerunSettings

from tests.functions.conftest import FUNCTIONS, ROLE, World
from tests.support.settings import SETTINGS
from tests.support.synthesis import Templates, synthesise
from tests.support.template_functions import functions

# Read by the modules of logs and metrics, which every function loads.
READ_BY_ALL = {"FUNCTION", "STAGE", "POWERTOOLS_LOG_LEVEL"}
SET_BY_LAMBDA = {"AWS_REGION"}
NOTIFICATIONS = "notifications"  # with a feed, which they need
RELEASES = "releases"
WITH_SETTINGS = {NOTIFICATIONS: {"feeds": True, "notifications": True}, RELEASES: {"releases": True}}
PHASES = (None, "dynamodb_first", "cleanup", *WITH_SETTINGS)
STORAGE = {"webhook_bucket": "acme-runners", "runner_config_bucket": "create", "runner_role_ids": ROLE}
OF_NOTIFICATIONS = {"notification_router", "notification_sender", "notification_schedules"}
OF_RELEASES = {"release_stream", "release_publications", "release_rebuilds"}
ONLY_WITH_A_SETTING = {"webhook_archive", "feed_stream", "feed_writer", *OF_NOTIFICATIONS, *OF_RELEASES}


class RecordingEnvironment(dict[str, str]):
    """Remembers which variables were read."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        super().__init__(variables)
        self.read: set[str] = set()

    def get(self, name: str, default: Any = None) -> Any:
        self.read.add(name)
        return super().get(name, default)


@pytest.fixture(params=PHASES)
def given(templates: Templates, request: pytest.FixtureRequest) -> Mapping[str, set[str]]:
    """The variables of each function: as deployed by default, in the phases that use S3, and with other settings."""
    deployed = templates
    if request.param:
        deployed = (
            synthesise(**WITH_SETTINGS[request.param])
            if request.param in WITH_SETTINGS
            else synthesise(**STORAGE, storage_phase=request.param)
        )
    return {
        function["Handler"].removesuffix(".handler"): set(function["Environment"]["Variables"])
        for _, function in functions(deployed).values()
    }


def start(world: World, function: str) -> None:
    world.start(function)
    if function == "api":  # which wires the rest when a request needs it
        for wired in vars(api_wiring).values():
            if hasattr(wired, "cache_clear") and wired is not clients.client:
                wired()


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_reads_all_that_the_stacks_give_it_and_needs_no_more(
    world: World, given: Mapping[str, set[str]], function: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = world.secrets.create_secret(Name="app", SecretString="{}")["ARN"]
    values = SETTINGS | {"WEBHOOK_SECRETS": world.secret_arn, "GITHUB_APP": app}
    values |= {"STORAGE_PHASE": "dynamodb_first", "WEBHOOK_BUCKET": "b", "WEBHOOK_KEY_PATTERN": key_pattern.DEFAULT}
    values |= {"RUNNER_CONFIG_BUCKET": "b", "RUNNER_ROLE_IDS": ROLE}
    values |= {"FEED_TABLE": "feed", "FEED_RETENTION_DAYS": "30", "FEED_QUEUE": "https://sqs.invalid/feed.fifo"}
    values |= {"FEED_TYPES": "*", "FEED_BUCKET": "b", "FEED_POSTS_PER_MINUTE": "300"}
    values |= {"FEED_STREAM_DEAD_LETTERS": "https://sqs.invalid/dead-letters"}
    values |= {"NOTIFICATIONS_TABLE": "notifications", "NOTIFICATIONS_RETENTION_DAYS": "90"}
    values |= {"NOTIFICATIONS_PER_HOUR": "10000"}
    values |= dict.fromkeys(("NOTIFICATIONS_QUEUE", "NOTIFICATIONS_SLOW_QUEUE"), "https://sqs.invalid/notifications")
    values |= {"NOTIFICATION_SECRETS": "a/", "NOTIFICATION_ROUTER_DEAD_LETTERS": "https://sqs.invalid/dead-letters"}
    values |= {
        "NOTIFICATION_SNS_TOPICS": "{}",
        "NOTIFICATION_EVENT_BUSES": "{}",
        "NOTIFICATION_SLACK_HOSTS": "a.example",
    }
    values |= {"RELEASES_TABLE": "releases", "RELEASES_RETENTION_DAYS": "90", "REBUILD_DEPENDENTS": "dry_run"}
    queues = ("RELEASE_INPUTS_QUEUE", "REBUILDS_QUEUE", "RELEASE_STREAM_DEAD_LETTERS")
    values |= dict.fromkeys(queues, "https://sqs.invalid/releases")
    if function not in given:
        assert function in ONLY_WITH_A_SETTING
        return
    names = given[function] - READ_BY_ALL
    deployed = RecordingEnvironment({name: values.get(name, "") for name in names | SET_BY_LAMBDA})
    monkeypatch.setattr(settings, "os", SimpleNamespace(environ=deployed))
    start(world, function)  # raises MissingSetting if a variable is missing
    assert names - deployed.read == set()


def test_every_function_is_compared(given: Mapping[str, set[str]]) -> None:
    assert given.keys() | ONLY_WITH_A_SETTING == set(FUNCTIONS)


def test_a_missing_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "os", SimpleNamespace(environ={"JOBS_TABLE": "jobs"}))
    with pytest.raises(MissingSetting, match="environment variable JOBS_RETENTION_DAYS is missing"):
        TableSettings.of("JOBS")


def test_an_empty_variable_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "os", SimpleNamespace(environ={"RUNNER_LOOKUPS_QUEUE": ""}))
    with pytest.raises(MissingSetting, match="RUNNER_LOOKUPS_QUEUE"):
        RecordingSettings.from_environment()


def test_an_invalid_value_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    environment = {"RERUNS_AT_MOST": "1", "RERUN": "perhaps"}
    monkeypatch.setattr(settings, "os", SimpleNamespace(environ=environment))
    with pytest.raises(InvalidSetting, match="RERUN has an invalid value: 'perhaps'"):
        RerunSettings.from_environment()


def test_lists_and_tags_are_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    environment = {
        "OWN_ACCOUNT": "1",
        "AWS_REGION": "eu-west-1",
        "RUNNER_REGIONS": "us-east-1,us-west-2",
        "RUNNER_TAGS": "team=ci,runner",
        "ECS_CLUSTERS": "default,runners",
        "POOL_TAGS": "pool,team",
    }
    monkeypatch.setattr(settings, "os", SimpleNamespace(environ=environment))
    assert RunnerSettings.from_environment() == RunnerSettings(
        own_account="1",
        aws_region="eu-west-1",
        runner_regions=("us-east-1", "us-west-2"),
        runner_tags={"team": "ci", "runner": "*"},
    )
    assert FleetSettings.from_environment().pool_tags == ("pool", "team")
    assert FleetSettings.from_environment().keep_tags == {}


def test_an_issuer_of_jwts_needs_an_audience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "os", SimpleNamespace(environ=SETTINGS | {"JWT_ISSUER": "https://issuer.example"}))
    with pytest.raises(MissingSetting, match="JWT_AUDIENCE"):
        ApiSettings.from_environment()
