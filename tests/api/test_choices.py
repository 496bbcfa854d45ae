"""The choices in the OpenAPI document are those of the domain.

The models repeat them as literals: an enum would be a component of its own in the document, and its errors would name
a Python type.
"""

from collections.abc import Iterable
from typing import Any

import pytest
from runledger.model.inputs import Conclusion, Status
from runledger.model.messages import FeedStatus, MessageStatus
from runledger.model.packages import BuildStatus, LineStatus, PublishedBy, RebuildStatus, VariantStatus
from runledger.model.passes import PassKind, PassOutcome, PassStatus
from runledger.model.releases import DeploymentState, HeadState, RebuildMode
from runledger.notifications.channels.interface import ChannelKind
from runledger.notifications.schedules import Content, Every, Weekday
from runledger.notifications.subscription_changes import CONCLUSIONS
from runledger.releases.dora import Bucket
from runledger_api import openapi
from runledger_api.app import build_resolver


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return openapi.build(build_resolver())


FIELDS: dict[tuple[str, str], Iterable[str]] = {
    ("Build", "status"): BuildStatus,
    ("BuildReport", "status"): VariantStatus,
    ("EnvironmentDeployment", "state"): DeploymentState,
    ("Head", "state"): HeadState,
    ("Message", "status"): MessageStatus,
    ("NewSubscription", "kind"): ChannelKind,
    ("Package", "published_by"): PublishedBy,
    ("Pass", "outcome"): PassOutcome,
    ("Pass", "status"): PassStatus,
    ("PassRequest", "pass"): set(PassKind) - {PassKind.CLEANUP},
    ("Rebuild", "status"): RebuildStatus,
    ("ReleaseLine", "mode"): RebuildMode,
    ("ReleaseLine", "status"): LineStatus,
    ("ScheduleBody", "content"): Content,
    ("ScheduleBody", "every"): Every,
    ("ScheduleBody", "weekday"): Weekday,
}
PARAMETERS: dict[tuple[str, str], Iterable[str]] = {
    ("getDora", "bucket"): Bucket,
    ("listFeed", "status"): FeedStatus,
    ("listJobs", "conclusion"): CONCLUSIONS,
    ("listJobs", "status"): Status,
    ("listMessages", "status"): MessageStatus,
}


@pytest.mark.parametrize(("model", "field"), FIELDS)
def test_a_field_has_the_choices_of_the_domain(document: dict[str, Any], model: str, field: str) -> None:
    schema = document["components"]["schemas"][model]["properties"][field]
    assert set(schema["enum"]) == {str(each) for each in FIELDS[model, field]}


@pytest.mark.parametrize(("operation", "name"), PARAMETERS)
def test_a_parameter_has_the_choices_of_the_domain(document: dict[str, Any], operation: str, name: str) -> None:
    operations = [each for methods in document["paths"].values() for each in methods.values()]
    (parameters,) = (each["parameters"] for each in operations if each["operationId"] == operation)
    (schema,) = (each["schema"] for each in parameters if each["name"] == name)
    choices = next((each["enum"] for each in schema.get("anyOf", ()) if "enum" in each), schema.get("enum"))
    assert set(choices) == {str(each) for each in PARAMETERS[operation, name]}


def test_every_conclusion_of_the_domain_can_be_filtered() -> None:
    assert set(Conclusion) <= set(CONCLUSIONS)
