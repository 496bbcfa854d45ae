"""docs/notifications.md: its receiver, its examples and its figures are true."""

import json
import re
import shlex
from http.server import ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from runledger.model.messages import GIVE_UP_SECONDS, MessageStatus
from runledger.notifications import attempts, payloads, scheduling, subscription_changes
from runledger.notifications.administration import MESSAGES_OF_A_CREATION
from runledger.notifications.channels.configs import new_secret
from runledger.notifications.channels.connection import TOTAL_SECONDS
from runledger.notifications.channels.interface import ChannelKind, SendOutcome
from runledger.notifications.subscriptions import FILTER_FIELDS, MOST_PER_HOUR, MOST_SUBSCRIPTIONS
from runledger_cli import main

from local.aws.deployment import CONTEXT
from stacks.settings import Settings
from stacks.settings_reader import TARGETS_AT_MOST
from tests.api.client import Client
from tests.notifications.api_scene import SUBSCRIPTIONS, api, client, ledger, world
from tests.notifications.channels.scene import SECRET, opened, outgoing
from tests.support.documents import DOCS, rows, section

__all__ = ["api", "client", "ledger", "world"]

TEXT = (DOCS / "notifications.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


def receiver(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the example defines, without its last line, which serves for ever."""
    (code,) = blocks("python")
    monkeypatch.setenv("WEBHOOK_SECRET", SECRET)
    defined: dict[str, Any] = {}
    exec(code[: code.index("ThreadingHTTPServer((")], defined)  # noqa: S102
    defined["Receiver"].log_message = lambda *_: None
    return defined


def test_the_receiver_of_the_guide_accepts_a_message_once_and_rejects_others(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    defined = receiver(monkeypatch)
    with ThreadingHTTPServer(("127.0.0.1", 0), defined["Receiver"]) as server:
        thread = Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        config = {"url": f"http://127.0.0.1:{server.server_address[1]}/"}
        for secrets, expected in (
            ([SECRET], SendOutcome.ACCEPTED),
            ([new_secret(), SECRET], SendOutcome.ACCEPTED),  # during a rotation, and the same message again
            ([new_secret()], SendOutcome.TRY_LATER),
        ):
            assert opened(ChannelKind.WEBHOOK, config, secrets).send(outgoing()).outcome is expected
        server.shutdown()
        thread.join()
    assert capsys.readouterr().out.count("job.failed") == 1
    assert len(defined["processed"]) == 1


def test_every_subscription_of_the_guide_is_accepted_by_the_api(client: Client) -> None:
    examples = [json.loads(block) for block in blocks("json")]
    assert len(examples) == 2
    for example in examples:
        assert client.post(SUBSCRIPTIONS, example).status == 201


def test_the_settings_for_a_try_are_those_of_the_local_deployment_and_in_cdk_json() -> None:
    shown = re.findall(r'^"(\w+)": true$', TEXT, re.MULTILINE)
    assert len(shown) == 3
    assert all(f'"{name}": false,\n' in (DOCS.parent / "cdk.json").read_text() for name in shown)
    settings = Settings.read((CONTEXT | dict.fromkeys(shown, "true")).get)
    assert all(getattr(settings, name) is True for name in shown)


def test_every_command_of_the_guide_is_understood() -> None:
    commands = re.findall(r"^ *\$ runledger (.*)$", TEXT, re.MULTILINE)
    assert len(commands) >= 6
    for command in commands:
        assert main.parser().parse_args(shlex.split(command)).run


def test_every_kind_status_and_filter_is_described() -> None:
    kinds = {re.sub(r"\[`(\w+)`\].*", r"\1", first) for first, *_ in rows(section("notifications.md", "Channels"))}
    assert kinds == set(ChannelKind)
    statuses = {first.strip("`") for first, *_ in rows(section("notifications.md", "Messages")) if first[0] == "`"}
    assert statuses == set(MessageStatus)
    fields = " ".join(first for first, *_ in rows(section("notifications.md", "Subscriptions")))
    assert set(re.findall(r"`(\w+)`", fields)) == {*subscription_changes.CHANGEABLE, *FILTER_FIELDS, "kind", "secret"}


def test_the_limits_and_the_pauses_are_those_of_the_code() -> None:
    limits = [value for _, value in rows(section("notifications.md", "Limits"))]
    assert limits == [
        str(MOST_SUBSCRIPTIONS),
        f"{subscription_changes.MOST_PATTERNS}, of {subscription_changes.LONGEST_PATTERN} characters each",
        str(MOST_PER_HOUR),
        f"{json.loads((DOCS.parent / 'cdk.json').read_text())['context']['notifications_per_hour']:,}",
        f"{payloads.LONGEST_TEXT:,} and {payloads.LONGEST_TITLE} characters",
        f"{GIVE_UP_SECONDS // 3600} hours",
        f"{TOTAL_SECONDS:.0f} seconds",
        f"{TARGETS_AT_MOST} each",
    ]
    assert f"a new subscription uses {MESSAGES_OF_A_CREATION} " in TEXT
    waits = [attempts.retry_seconds(count, retry_after=None, dice=lambda: 0.5) for count in range(9)]
    assert waits == [10, 30, 90, 270, 810, 2430, 7290, 14400, 14400]
    assert "10 s, 30 s, 90 s, 4.5, 13.5 and 40 minutes, 2 hours, and then every 4 hours" in TEXT
    assert attempts.JITTER == 0.2
    assert (attempts.FAILURES_UNTIL_PAUSE, attempts.FIRST_PAUSE_SECONDS, attempts.LONGEST_PAUSE_SECONDS) == (
        3,
        60,
        1800,
    )
    assert (attempts.SLOW_MS, attempts.LONGEST_RETRY_AFTER_SECONDS) == (2000, 3600)
    assert scheduling.LATEST_SECONDS == 6 * 3600
