"""Every kind of channel is checked, opened, described by the API, and offered by the CLI and the dashboard."""

import re
from pathlib import Path
from typing import get_args

from runledger.notifications.channels.configs import CHECKS, SECRETS
from runledger.notifications.channels.interface import ChannelKind
from runledger.notifications.channels.opening import Channels
from runledger_api.models.notifications import Kind
from runledger_cli.commands.subscriptions import KINDS

from tests.support.channels import channel_settings

CHANNELS = Path(__file__).parent.parent.parent / "web" / "src" / "parts" / "channels.js"


def test_the_configuration_and_the_secret_of_every_kind_are_checked() -> None:
    assert CHECKS.keys() == SECRETS.keys() == set(ChannelKind)


def test_every_kind_can_be_opened() -> None:
    assert Channels(settings=channel_settings())._kinds.keys() == set(ChannelKind)


def test_the_api_and_the_command_line_accept_every_kind() -> None:
    assert set(get_args(Kind)) == set(KINDS) == set(ChannelKind)


def test_the_dashboard_has_a_form_for_every_kind() -> None:
    block = re.search(r"export const CHANNELS = \{\n(.*?)\n\};", CHANNELS.read_text(), re.DOTALL)
    assert block
    assert set(re.findall(r"^  (\w+): \{$", block[1], re.MULTILINE)) == set(ChannelKind)
