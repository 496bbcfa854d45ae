"""An invalid setting is rejected by name, before anything is deployed."""

import json
from pathlib import Path

import aws_cdk as cdk
import pytest

from app import build
from stacks.settings import REPLACED, Settings, reject_unknown
from stacks.settings_reader import BadSetting

PUBLISHER = {"account": "111111111111", "source": "my.launcher", "installations": [41]}
ROOT = Path(__file__).parent.parent.parent
CONTEXT = {
    name: value
    for name, value in json.loads((ROOT / "cdk.json").read_text())["context"].items()
    if not name.startswith("@aws-cdk")
}


def read(**given: object) -> Settings:
    return Settings.read(given.get)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        (
            "workflow_jobs_retention_days",
            "a week",
            "workflow_jobs_retention_days is 'a week'; it must be a whole number",
        ),
        (
            "workflow_jobs_retention_days",
            0,
            "workflow_jobs_retention_days is 0; it must be a whole number from 1 to 3650",
        ),
        ("runners_retention_days", True, "runners_retention_days is True"),
        ("runners_retention_days", 1.5, "runners_retention_days is 1.5"),
        ("throw_away", "perhaps", "throw_away is 'perhaps'; it must be true or false"),
        ("capacity", "plenty", "capacity is 'plenty'; it must be one of on-demand, provisioned"),
        ("architecture", "x86", "architecture is 'x86'; it must be one of arm64, host"),
        ("architecture", "host", "architecture is 'host', which is for local deployments: it needs throw_away = true"),
        ("queue_max_concurrency", 1, "queue_max_concurrency is 1; it must be a whole number from 2 to 1000"),
        ("ecs_event_clusters", "a b", "ecs_event_clusters is 'a b'; it must be ECS cluster names separated by commas"),
        ("ecs_event_clusters", ",".join(["runners"] * 60), "ecs_event_clusters is too long for an event pattern"),
        ("stage", "Prod!", "stage is 'Prod!'; it must be a lower-case word"),
        ("log_retention_days", 8, "log_retention_days is 8; it must be one of 1, 3, 5, 7"),
        ("github_api_url", "github.com", "github_api_url is 'github.com'; it must be the https address of GitHub's"),
        ("github_api_url", "https://ghes/api/v3/", "github_api_url is 'https://ghes/api/v3/'; it must be the https"),
        ("jwt_issuer", "id.example.com", "jwt_issuer is 'id.example.com'; it must be the https address of an issuer"),
        ("jwt_issuer", "https://id.example.com", "jwt_issuer and jwt_audience must both be set, or neither"),
        ("forgotten_approval_hours", 0, "forgotten_approval_hours is 0; it must be a whole number from 1 to 2160"),
        ("event_publishers", "no list", "event_publishers is invalid: it is not JSON"),
        ("event_publishers", {"account": "111111111111"}, "event_publishers is invalid: it is not a list"),
        (
            "event_publishers",
            [{"account": "111111111111"}],
            "event_publishers is invalid: entry 1 must have account, source and installations",
        ),
        (
            "event_publishers",
            [PUBLISHER | {"account": 111111111111}],
            "event_publishers is invalid: entry 1: account must be 12 digits in quotes",
        ),
        (
            "event_publishers",
            [PUBLISHER, PUBLISHER | {"source": ""}],
            "event_publishers is invalid: entry 2: source must be the launcher's",
        ),
        (
            "event_publishers",
            [PUBLISHER | {"installations": []}],
            "event_publishers is invalid: entry 1: installations must be a list of ids",
        ),
        (
            "event_publishers",
            [PUBLISHER | {"installations": None}],
            "event_publishers is invalid: entry 1: installations must be a list of ids",
        ),
        (
            "event_publishers",
            [PUBLISHER | {"installations": [True]}],
            "event_publishers is invalid: entry 1: installations must be a list of ids",
        ),
        ("event_publishers", [PUBLISHER] * 50, "event_publishers is too long for a function's environment"),
        ("event_publisher_accounts", "111111111111", "event_publisher_accounts was replaced by event_publishers"),
        ("instance_id_pattern", "i-[", r"instance_id_pattern is 'i-\['; it must be a regular expression"),
        ("rerun", "always", "rerun is 'always'; it must be one of never, interrupted, any_failure"),
        (
            "rerun_own_failures",
            False,
            "rerun_own_failures was replaced by rerun, which takes never, interrupted or",
        ),
        ("reruns_at_most", -1, "reruns_at_most is -1; it must be a whole number from 0 to 10"),
        ("orphans", "kill", "orphans is 'kill'; it must be one of report, enforce"),
        (
            "orphans",
            "enforce",
            "orphans is 'enforce', but runner_tags is empty: set runner_tags to the tags of your runners",
        ),
        ("runner_tags", "team", "runner_tags is 'team'; it must be tags as name=value, separated by commas"),
        (
            "runner_tags",
            ["team=ci"],
            r"runner_tags is \['team=ci'\]; it must be tags as name=value, separated by commas",
        ),
        ("runner_tags", "team=ci,team=web", "runner_tags is 'team=ci,team=web'; it must name each tag once"),
        ("keep_tags", "pool=a, pool=b", "keep_tags is 'pool=a, pool=b'; it must name each tag once"),
        (
            "keep_tags",
            {"pool": "idle"},
            "keep_tags is {'pool': 'idle'}; it must be tags as name=value, separated by commas",
        ),
        ("runner_regions", ["eu-west-1"], r"runner_regions is \['eu-west-1'\]; it must be AWS region names"),
        (
            "ecs_event_clusters",
            ["ci"],
            r"ecs_event_clusters is \['ci'\]; it must be ECS cluster names separated by commas",
        ),
        ("ecs_cluster", "ci", "ecs_cluster was replaced by ecs_clusters, which takes names separated by commas"),
        ("ecs_clusters", "", "ecs_clusters is ''; it must name 1 to 10 ECS clusters"),
        ("ecs_clusters", "a b", "ecs_clusters is 'a b'; it must be ECS cluster names separated by commas"),
        ("log_level", "LOUD", "log_level is 'LOUD'; it must be one of DEBUG"),
        ("alarm_email", "operator", "alarm_email is 'operator'; it must be an e-mail address, or empty"),
        ("no_webhook_alarm_minutes", 10_081, "no_webhook_alarm_minutes is 10081; it must be a whole number from 0 to"),
        ("read_capacity_min", 2000, "read_capacity_min is 2000, above read_capacity_max, which is 1000"),
        ("write_capacity_max", 1, "write_capacity_min is 5, above write_capacity_max, which is 1"),
    ],
)
def test_a_bad_setting_is_refused_by_name(name: str, value: object, message: str) -> None:
    with pytest.raises(BadSetting, match="^" + message.replace("(", r"\(")):
        read(**{name: value})


def test_values_from_the_command_line_are_strings() -> None:
    settings = read(throw_away="true", workflow_jobs_retention_days="30", webhook_rate_limit="7")
    assert settings.throw_away is True
    assert settings.retention_days["workflow_jobs"] == 30
    assert settings.webhook_rate_limit == 7


def test_cdk_json_holds_exactly_the_defaults() -> None:
    names: set[str] = set()

    def remember(name: str) -> None:
        names.add(name)

    assert Settings.read(remember) == read(**CONTEXT)
    assert names - REPLACED.keys() == CONTEXT.keys()


def test_a_misspelled_setting_is_rejected_with_a_suggestion() -> None:
    with pytest.raises(BadSetting, match=r"throwaway is not a setting: did you mean throw_away\?"):
        reject_unknown({"throwaway": "true"})
    with pytest.raises(BadSetting, match=r"xyz is not a setting: docs/settings\.md"):
        reject_unknown(["xyz"])


def test_every_setting_and_cdks_own_context_are_known() -> None:
    reject_unknown([*CONTEXT, "@aws-cdk/core:newStyleStackSynthesis", "aws:cdk:bundling-stacks"])


def test_the_app_rejects_a_misspelled_setting() -> None:
    with pytest.raises(BadSetting, match="orphan is not a setting"):
        build(cdk.App(context={"orphan": "enforce"}))
