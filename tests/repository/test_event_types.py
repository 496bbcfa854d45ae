"""The dashboard and the CLI show every type of event, and subscriptions can be for each type of the feed.

test_documentation.py checks the metrics.
"""

import re
from pathlib import Path

from runledger.feeds.events import FeedType
from runledger.model.inputs import EventType
from runledger.notifications.texts import RunledgerType
from runledger_cli.rendering.timeline import MARKS_OF_EVENTS, STEPS_OF_EVENTS

from tests.support.documents import names, section

ROOT = Path(__file__).parent.parent.parent
# The CLI shows these as steps of the job, from its own attributes.
STEPS_OF_THE_JOB = {
    EventType.WEBHOOK_QUEUED,
    EventType.RUNNER_SCHEDULED,
    EventType.WEBHOOK_IN_PROGRESS,
    EventType.WEBHOOK_COMPLETED,
    EventType.WEBHOOK_WAITING,
    EventType.DEPLOYMENT_REQUESTED,
    EventType.DEPLOYMENT_APPROVED,
    EventType.DEPLOYMENT_REJECTED,
    EventType.RUNNER_INTERRUPTED,
}


def labels_of_the_page() -> list[str]:
    source = (ROOT / "web" / "src" / "parts" / "timeline.js").read_text()
    block = re.search(r"const MEANING = \{\n(.*?)\n\};", source, re.DOTALL)
    assert block
    return re.findall(r"^  (\w+): \[", block[1], re.MULTILINE)


def test_every_event_type_has_a_label_on_the_page() -> None:
    assert sorted(labels_of_the_page()) == sorted(EventType)


def test_every_event_type_is_shown_by_the_command_line() -> None:
    labelled = {*STEPS_OF_EVENTS, *MARKS_OF_EVENTS}
    assert labelled | STEPS_OF_THE_JOB == set(EventType)
    assert not labelled & STEPS_OF_THE_JOB


def test_every_type_of_the_feed_can_be_chosen_for_a_subscription() -> None:
    source = (ROOT / "web" / "src" / "parts" / "message_status.js").read_text()
    offered = re.findall(r'"([a-z]+\.[a-z_]+)"', source)
    assert sorted(offered) == sorted([*FeedType, *RunledgerType])


def test_every_type_of_the_feed_is_documented() -> None:
    assert {*FeedType, "audit.finished"} == names(section("feed.md", "Event types"))
