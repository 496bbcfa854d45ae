"""The log, as JSON lines: people follow a delivery in it, and CloudWatch extracts metrics from it."""

import json
import os
from collections.abc import Mapping
from typing import Any

from aws_lambda_powertools.logging import Logger

from runledger.model import message_format
from runledger.model.errors import NewerMessage, Rejection
from runledger.platform import emf

FUNCTION = os.environ.get("FUNCTION", "")

# The same format as in `times`.
logger = Logger(service=emf.SERVICE, function=FUNCTION, utc=True, datefmt="%Y-%m-%dT%H:%M:%S.%FZ")


def set_correlation_id(correlation_id: str) -> None:
    """Every later line carries this id: the delivery, event or request that caused the line."""
    logger.set_correlation_id(correlation_id)


def correlation_id() -> str | None:
    """For messages to other functions, so that their lines carry the same id."""
    return logger.get_correlation_id()


def continue_message(message: str, *, otherwise: str | None = None) -> None:
    """Continues with the id of the input that caused a queued message. Messages from earlier releases have none."""
    found = json.loads(message).get(message_format.CORRELATION) or otherwise
    if found:
        set_correlation_id(str(found))


def count(message: str, about: Mapping[str, Any], metrics: Mapping[str, float], **dimensions: str) -> None:
    """Writes a line that CloudWatch extracts metrics from, at every log level."""
    correlated = {"correlation_id": logger.get_correlation_id(), "function": FUNCTION}
    emf.write(metrics, about={"message": message} | correlated | dict(about), dimensions=dimensions)


def message_rejected(message_id: str, rejection: Rejection, *, first: bool) -> None:
    """A message that is invalid, or that its sender may not send. Counted at the first try."""
    about = {"level": "ERROR", "message_id": message_id, "reason": str(rejection)}
    count("message rejected", about, {"RejectedEvents": int(first)})


def newer_message(newer: NewerMessage, **about: Any) -> None:
    """Expected for minutes while an upgrade is under way, and after a rollback until the next upgrade."""
    versions = {"version": newer.version, "supported": newer.supported}
    logger.error("message has a newer version", extra=versions | about)


def messages_failed(number: int) -> None:
    """Counted for each function, because Lambda counts no error when only messages of a batch fail."""
    count("messages failed", {"level": "ERROR"}, {"MessagesFailed": number}, function=FUNCTION)
