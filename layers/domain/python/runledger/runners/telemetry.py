"""Logs and metrics of lookups and re-run checks."""

from dataclasses import asdict

from runledger.model.errors import UnavailableError
from runledger.model.follow_ups import RerunCheck
from runledger.model.runs import RerunResult
from runledger.platform.logs import count, logger


def lookup_deferred(error: UnavailableError) -> None:
    """EC2, ECS or the price list did not respond. The call is repeated; the alarm is for failures that persist."""
    about = {"level": "WARNING", "reason": str(error)}
    count("lookup deferred", about, {"LookupsPostponed": 1})


def considered(check: RerunCheck, result: RerunResult) -> None:
    logger.info("re-run considered", extra=asdict(check) | {"result": str(result)})
