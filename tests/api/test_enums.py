"""The values that the API documents are those of the domain."""

from enum import StrEnum
from typing import Any, get_args, get_type_hints

import pytest
from runledger.model.inputs import Conclusion, Status
from runledger.model.messages import FeedStatus, MessageStatus
from runledger.model.packages import BuildStatus, LineStatus, PublishedBy, RebuildStatus, VariantStatus
from runledger.model.passes import PassKind, PassOutcome, PassStatus
from runledger.model.releases import DeploymentState, HeadState, RebuildMode
from runledger.notifications.schedules import Content, Every
from runledger_api.models import admin, builds, environments, heads, notifications, packages
from runledger_api.routes import feed, jobs


def values(described: Any) -> set[Any]:
    """Of a Literal, which may be within other types."""
    inner = get_args(described)
    return {each for part in inner for each in (values(part) if get_args(part) else {part})} - {type(None)}


@pytest.mark.parametrize(
    ("described", "enum"),
    [
        (notifications.MessageStatus, MessageStatus),
        (get_type_hints(notifications.ScheduleBody)["every"], Every),
        (get_type_hints(notifications.ScheduleBody)["content"], Content),
        (packages.PublishedBy, PublishedBy),
        (packages.LineStatus, LineStatus),
        (packages.RebuildStatus, RebuildStatus),
        (get_type_hints(packages.ReleaseLine)["mode"], RebuildMode),
        (builds.BuildStatus, BuildStatus),
        (get_type_hints(builds.BuildReport)["status"], VariantStatus),
        (get_type_hints(admin.Pass)["status"], PassStatus),
        (get_type_hints(admin.Pass)["outcome"], PassOutcome),
        (heads.State, HeadState),
        (get_type_hints(environments.EnvironmentDeployment)["state"], DeploymentState),
        (jobs.StatusName, Status),
        (get_type_hints(feed.feed)["status"], FeedStatus),
    ],
)
def test_the_documented_values_are_those_of_the_domain(described: Any, enum: type[StrEnum]) -> None:
    assert values(described) == set(enum)


def test_jobs_can_be_filtered_by_every_conclusion_that_is_treated_specially() -> None:
    """GitHub has further ones."""
    assert values(jobs.Conclusion) > set(Conclusion)


def test_a_caller_can_request_every_pass_that_is_scheduled() -> None:
    """A cleanup has its own request."""
    assert values(get_type_hints(admin.PassRequest)["pass"]) == set(PassKind) - {PassKind.CLEANUP}
