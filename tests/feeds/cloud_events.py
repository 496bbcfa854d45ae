"""Reads events with the CloudEvents library, which checks the names and types of all attributes."""

import json
from collections.abc import Mapping
from typing import Any

from cloudevents.core.formats.json import JSONFormat
from cloudevents.core.v1.event import CloudEvent


def read(event: Mapping[str, Any]) -> CloudEvent:
    """CloudEventValidationError if it isn't a CloudEvent 1.0."""
    found = JSONFormat().read(CloudEvent, json.dumps(event))
    assert isinstance(found, CloudEvent)
    return found
