"""A subscription is rejected when it is saved if its channel can't work; no error contains a secret."""

from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Any

import pytest
from runledger.model.errors import Malformed
from runledger.notifications.channels import configs
from runledger.notifications.channels.interface import ChannelKind

from tests.notifications.channels.scene import SECRET
from tests.support.channels import channel_settings

URL = "https://hooks.example/x"
SETTINGS = channel_settings(
    sns_topics={"alerts": "arn:aws:sns:eu-west-1:123456789012:alerts"},
    event_buses={"main": "arn:aws:events:eu-west-1:123456789012:event-bus/main"},
    deployment_urls=("https://ledger.example/v1",),
)
SLACK_URL = "https://hooks.slack.com/services/T0/B0/hunter2"


@pytest.mark.parametrize(
    ("kind", "config", "checked"),
    [
        (ChannelKind.WEBHOOK, {"url": "https://Hooks.Example"}, {"url": "https://hooks.example/"}),
        (ChannelKind.SLACK, {}, {}),
        (ChannelKind.NTFY, {}, {}),
        (ChannelKind.NTFY, {"url": "https://ntfy.sh/my-topic"}, {"url": "https://ntfy.sh/my-topic"}),
        (ChannelKind.NTFY, {"priority": 5, "tags": ["warning"]}, {"priority": 5, "tags": ["warning"]}),
        (ChannelKind.SNS, {"target": "alerts"}, {"target": "alerts"}),
        (ChannelKind.EVENTBRIDGE, {"target": "main"}, {"target": "main"}),
        (ChannelKind.RELAUNCH, {"url": URL}, {"url": URL, "owner_type": "Organization"}),
        (
            ChannelKind.RELAUNCH,
            {"url": URL, "owner_type": "User", "installation_id": 7},
            {"url": URL, "owner_type": "User", "installation_id": 7},
        ),
    ],
)
def test_a_valid_configuration_is_normalised(
    kind: ChannelKind, config: Mapping[str, Any], checked: Mapping[str, Any]
) -> None:
    assert configs.check(kind, config, SETTINGS) == checked
    assert configs.check(kind, checked, SETTINGS) == checked


@pytest.mark.parametrize(
    ("kind", "config", "field"),
    [
        (ChannelKind.WEBHOOK, {}, "url"),
        (ChannelKind.WEBHOOK, {"url": 7}, "url"),
        (ChannelKind.WEBHOOK, {"url": "http://hooks.example"}, "url"),
        (ChannelKind.WEBHOOK, {"url": "https://169.254.169.254/"}, "url"),
        (ChannelKind.WEBHOOK, {"url": "https://LEDGER.example.:443/other"}, "url"),
        (ChannelKind.WEBHOOK, {"url": URL, "secret": "hunter2"}, "secret"),
        (ChannelKind.SLACK, {"url": SLACK_URL}, "url"),
        (ChannelKind.NTFY, {"url": "https://ntfy.sh/"}, "url"),
        (ChannelKind.NTFY, {"url": "https://ntfy.sh/a/b"}, "url"),
        (ChannelKind.NTFY, {"priority": 6}, "priority"),
        (ChannelKind.NTFY, {"priority": True}, "priority"),
        (ChannelKind.NTFY, {"tags": "warning"}, "tags"),
        (ChannelKind.NTFY, {"tags": ["a b"]}, "tags"),
        (ChannelKind.SNS, {}, "target"),
        (ChannelKind.SNS, {"target": "arn:aws:sns:eu-west-1:123456789012:alerts"}, "target"),
        (ChannelKind.SNS, {"target": ["alerts"]}, "target"),
        (ChannelKind.EVENTBRIDGE, {"target": "alerts"}, "target"),
        (ChannelKind.RELAUNCH, {"url": "https://ledger.example/webhooks"}, "url"),
        (ChannelKind.RELAUNCH, {"url": URL, "owner_type": "Bot"}, "owner_type"),
        (ChannelKind.RELAUNCH, {"url": URL, "installation_id": 0}, "installation_id"),
    ],
)
def test_an_invalid_configuration_is_rejected_with_its_field_name(
    kind: ChannelKind, config: Mapping[str, Any], field: str
) -> None:
    with pytest.raises(Malformed) as caught:
        configs.check(kind, config, SETTINGS)
    assert caught.value.field == field
    assert "hunter2" not in str(caught.value)


def test_a_webhook_without_a_secret_gets_one_of_256_random_bits() -> None:
    made = {configs.check_secret(ChannelKind.WEBHOOK, {"url": URL}, None, SETTINGS) for _ in range(100)}
    assert len(made) == 100
    for secret in made:
        assert secret is not None
        assert len(b64decode(secret.removeprefix("whsec_"), validate=True)) == 32
        assert configs.check_secret(ChannelKind.WEBHOOK, {}, secret, SETTINGS) == secret


@pytest.mark.parametrize(
    ("kind", "config", "secret"),
    [
        (ChannelKind.WEBHOOK, {}, SECRET),
        (ChannelKind.SLACK, {}, SLACK_URL),
        (ChannelKind.SLACK, {}, "https://hooks.slack-gov.com/services/T0/B0/hunter2"),
        (ChannelKind.NTFY, {}, "https://ntfy.sh/secret-topic"),
        (ChannelKind.NTFY, {"url": "https://ntfy.sh/topic"}, None),
        (ChannelKind.NTFY, {"url": "https://ntfy.sh/topic"}, "tk_7eevizlsiwf9yi4uxsrs83r4352o0"),
        (ChannelKind.SNS, {"target": "alerts"}, None),
        (ChannelKind.RELAUNCH, {}, "the launcher's secret"),
    ],
)
def test_a_valid_secret_is_kept(kind: ChannelKind, config: Mapping[str, Any], secret: str | None) -> None:
    assert configs.check_secret(kind, config, secret, SETTINGS) == secret


@pytest.mark.parametrize(
    ("kind", "config", "secret"),
    [
        (ChannelKind.WEBHOOK, {}, ""),
        (ChannelKind.WEBHOOK, {}, "hunter2"),
        (ChannelKind.WEBHOOK, {}, "whsec_hunter2"),
        (ChannelKind.WEBHOOK, {}, "whsec_" + b64encode(b"a" * 23).decode()),
        (ChannelKind.WEBHOOK, {}, "whsec_" + b64encode(b"a" * 65).decode()),
        (ChannelKind.SLACK, {}, None),
        (ChannelKind.SLACK, {}, "https://hooks.slack.com.evil.example/hunter2"),
        (ChannelKind.SLACK, {}, "https://evil.example/hooks.slack.com/hunter2"),
        (ChannelKind.SLACK, {}, "https://hooks.slack.com@evil.example/hunter2"),
        (ChannelKind.SLACK, {}, "http://hooks.slack.com/services/hunter2"),
        (ChannelKind.NTFY, {}, None),
        (ChannelKind.NTFY, {}, "tk_hunter2"),
        (ChannelKind.NTFY, {"url": "https://ntfy.sh/topic"}, "hunter2\r\nX-Evil: yes"),
        (ChannelKind.SNS, {"target": "alerts"}, "hunter2"),
        (ChannelKind.EVENTBRIDGE, {"target": "main"}, "hunter2"),
        (ChannelKind.RELAUNCH, {}, None),
        (ChannelKind.RELAUNCH, {}, ""),
    ],
)
def test_an_invalid_secret_is_rejected_and_not_repeated(
    kind: ChannelKind, config: Mapping[str, Any], secret: str | None
) -> None:
    with pytest.raises(Malformed) as caught:
        configs.check_secret(kind, config, secret, SETTINGS)
    assert caught.value.field == "secret"
    assert "hunter2" not in str(caught.value)


def test_products_that_accept_messages_of_slack_are_allowed_by_a_setting() -> None:
    url = "https://chat.example/hooks/1"
    allowed = channel_settings(slack_hosts=("chat.example",))
    assert configs.check_secret(ChannelKind.SLACK, {}, url, allowed) == url
    with pytest.raises(Malformed):
        configs.check_secret(ChannelKind.SLACK, {}, url, SETTINGS)


@pytest.mark.parametrize("own", ["https://10.0.0.7/v1", "http://localhost:4566/x", "https://[fd00::1]/"])
def test_a_deployment_with_a_private_address_has_subscriptions_too(own: str) -> None:
    settings = channel_settings(deployment_urls=(own,))
    assert configs.check(ChannelKind.WEBHOOK, {"url": URL}, settings) == {"url": URL}


def test_a_relaunch_channel_is_limited_to_requests_for_runners() -> None:
    assert configs.ONLY_TYPES == {ChannelKind.RELAUNCH: ("runner.requested",)}
