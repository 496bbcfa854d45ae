"""The log, as JSON: for people who follow a delivery, and for CloudWatch, which counts from it."""

import importlib.util
import os
import sys
from collections.abc import Mapping
from typing import Any

if "aws_lambda_powertools" not in sys.modules and (_spec := importlib.util.find_spec("aws_lambda_powertools")):
    # Powertools' package file imports its Tracer, which we do not use: enter the package without running that file.
    sys.modules["aws_lambda_powertools"] = importlib.util.module_from_spec(_spec)

from aws_lambda_powertools.logging import Logger

from runledger.model.errors import NewerMessage, OutOfScope, Refusal, UnavailableError
from runledger.platform import emf

FUNCTION = os.environ.get("FUNCTION", "")

logger = Logger(service=emf.SERVICE, function=FUNCTION, utc=True, datefmt="%Y-%m-%dT%H:%M:%S.%FZ")  # as `times` has it


def follow(delivery_id: str) -> None:
    """Every line from here on carries the delivery's id, in whichever function it is."""
    logger.set_correlation_id(delivery_id)


def count(message: str, about: Mapping[str, Any], metrics: Mapping[str, float], **dimensions: str) -> None:
    """A line of the log from which CloudWatch counts: so it is written at every log level."""
    correlated = {"correlation_id": logger.get_correlation_id(), "function": FUNCTION}
    emf.write(metrics, about={"message": message} | correlated | dict(about), dimensions=dimensions)


def rejected(message_id: str, refusal: Refusal, *, first: bool) -> None:
    """A message that its sender got wrong, or had no right to send. Counted at its first try."""
    about = {"level": "ERROR", "message_id": message_id, "reason": str(refusal)}
    count("message rejected", about, {"RejectedEvents": int(first)})


def newer_message(newer: NewerMessage, **about: Any) -> None:
    """Expected for minutes while an upgrade is under way, and after a rollback until the next upgrade."""
    versions = {"version": newer.version, "supported": newer.supported}
    logger.error("message has a newer version", extra=versions | about)


def messages_failed(number: int) -> None:
    """Counted for each function, because Lambda counts no error when only messages of a batch fail."""
    count("messages failed", {"level": "ERROR"}, {"MessagesFailed": number}, function=FUNCTION)


def refused(refusal: Refusal) -> None:
    """Deliveries out of scope are counted, because a secret that is used for another tenant may be an attack."""
    if isinstance(refusal, OutOfScope):
        about = {"level": "WARNING", "reason": str(refusal)}
        count("delivery refused", about, {"DeliveriesOutOfScope": 1})
    else:
        logger.warning("delivery refused", extra={"reason": str(refusal)})


def secret_ignored(entry: str, reason: str) -> None:
    about = {"level": "ERROR", "entry": entry, "reason": reason}
    count("webhook secret ignored", about, {"InvalidWebhookSecrets": 1})


def lookup_postponed(trouble: UnavailableError) -> None:
    """EC2, ECS or the price list did not answer. It is asked again: the alarm is about trouble that stays."""
    about = {"level": "WARNING", "reason": str(trouble)}
    count("lookup postponed", about, {"LookupsPostponed": 1})
